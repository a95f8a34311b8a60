// Data structures full of pointers, in memory that host and device share: a class that allocates itself in managed
// memory, strings with deep copies, a linked list that a kernel walks and extends, and a binary tree.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#define CHECK_CUDA(x)                                                                                    \
    if (cudaError_t e_ = (x); e_ != cudaSuccess) {                                                       \
        std::fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_));  \
        std::abort();                                                                                    \
    }

// Whatever derives from this is visible to kernels, wherever `new` made it.
class Managed {
public:
    static void *operator new(std::size_t len) {
        void *ptr;
        CHECK_CUDA(cudaMallocManaged(&ptr, len));
        CHECK_CUDA(cudaDeviceSynchronize());
        return ptr;
    }
    static void *operator new[](std::size_t len) { return operator new(len); }
    static void operator delete(void *ptr) {
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaFree(ptr));
    }
    static void operator delete[](void *ptr) { operator delete(ptr); }
};

// A string that copies itself deeply, in managed memory too.
class String : public Managed {
    int length = 0;
    char *data = nullptr;

    void allocate(const char *text, int n) {
        length = n;
        CHECK_CUDA(cudaMallocManaged(&data, length + 1));
        std::memcpy(data, text, length + 1);
    }

public:
    String() = default;
    String(const char *s) { allocate(s, static_cast<int>(std::strlen(s))); }
    String(const String &s) : Managed(s) { allocate(s.data, s.length); }
    String &operator=(String s) {
        std::swap(length, s.length);
        std::swap(data, s.data);
        return *this;
    }
    ~String() { cudaFree(data); }

    __host__ __device__ char &operator[](int pos) { return data[pos]; }
    __host__ __device__ char operator[](int pos) const { return data[pos]; }
    __host__ __device__ int size() const { return length; }
    const char *c_str() const { return data; }
};

struct Node : Managed {
    int key;
    String name;
    Node *next;
    Node(int k, const char *n, Node *rest) : key(k), name(n), next(rest) {}
};

class List : public Managed {
public:
    ~List() {
        while (head != nullptr) delete std::exchange(head, head->next);
    }
    void push_front(int key, const char *name) { head = new Node(key, name, head); }

    __host__ __device__ const Node *find(int key) const {
        const Node *node = head;
        while (node != nullptr && node->key != key) node = node->next;
        return node;
    }
    __host__ __device__ int size() const {
        int count = 0;
        for (const Node *node = head; node; node = node->next) ++count;
        return count;
    }
    template <typename F>
    __host__ __device__ void for_each(F f) {
        for (Node *node = head; node; node = node->next) f(*node);
    }

    Node *head = nullptr;
};

struct Shout {
    __host__ __device__ void operator()(Node &node) const {
        for (int i = 0; i < node.name.size(); ++i)
            if (node.name[i] >= 'a' && node.name[i] <= 'z') node.name[i] -= 'a' - 'A';
    }
};

__global__ void shout(List *list) {
    list->for_each(Shout());
    printf("device: %d nodes\n", list->size());
}

__global__ void look_up(const List &list, const int *keys, int *lengths, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const Node *node = list.find(keys[i]);
        lengths[i] = node == nullptr ? -1 : node->name.size();
    }
}

// Threads push nodes that the host has laid ready; the list's head is swapped in atomically.
struct Counter : Managed {
    int value;
    Counter *next;
};
__managed__ Counter *pushed = nullptr;

__global__ void push_all(Counter *nodes, int n) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    Counter *mine = &nodes[i];
    mine->value = i;
    auto *head = reinterpret_cast<unsigned long long *>(&pushed);
    unsigned long long seen = atomicAdd(head, 0ULL), expected;
    do {
        expected = seen;
        mine->next = reinterpret_cast<Counter *>(expected);
        seen = atomicCAS(head, expected, reinterpret_cast<unsigned long long>(mine));
    } while (seen != expected);
}

struct Tree : Managed {
    int key;
    Tree *child[2] = {nullptr, nullptr};
    explicit Tree(int k) : key(k) {}
    ~Tree() {
        delete child[0];
        delete child[1];
    }
    void insert(int k) {
        Tree *&branch = child[k > key];
        if (branch == nullptr) branch = new Tree(k);
        else branch->insert(k);
    }
    __host__ __device__ int depth() const {  // recursion, on the device too
        int d[2] = {child[0] ? child[0]->depth() : 0, child[1] ? child[1]->depth() : 0};
        return 1 + (d[0] > d[1] ? d[0] : d[1]);
    }
};

__global__ void measure(const Tree *tree, int *depth) { *depth = tree->depth(); }

int main() {
    static const char *names[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
    List *list = new List;
    for (int i = 9; i >= 0; --i) list->push_front(i * 11, names[i]);
    String copy = list->find(77)->name;  // stays as it is

    shout<<<1, 1>>>(list);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::printf("host: %s %s %s, the copy is still %s\n", list->find(0)->name.c_str(), list->find(33)->name.c_str(),
                list->find(99)->name.c_str(), copy.c_str());
    bool ok = list->size() == 10 && !std::strcmp(list->find(77)->name.c_str(), "SEVEN");
    ok = ok && std::string("seven") == copy.c_str();

    int *keys, *lengths, sum = 0;
    CHECK_CUDA(cudaMallocManaged(&keys, 100 * sizeof(int)));
    CHECK_CUDA(cudaMallocManaged(&lengths, 100 * sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < 100; ++i) keys[i] = i;
    look_up<<<2, 64>>>(*list, keys, lengths, 100);  // a reference: the list lies in managed memory
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 100; ++i) sum += lengths[i];
    std::printf("found %d letters in names\n", sum + 90);
    ok = ok && sum + 90 == 40 && lengths[33] == 5 && lengths[34] == -1;

    Counter *counters = new Counter[200];
    push_all<<<4, 64>>>(counters, 200);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());
    int count = 0, total = 0;
    for (Counter *c = pushed; c != nullptr; c = c->next) ++count, total += c->value;
    std::printf("pushed %d nodes, total %d\n", count, total);
    ok = ok && count == 200 && total == 199 * 200 / 2;

    Tree *tree = new Tree(50);
    for (int i = 0, k = 13; i < 60; ++i, k = k * 37 % 101) tree->insert(k);
    measure<<<1, 1>>>(tree, keys);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::printf("the tree's depth is %s\n", keys[0] == tree->depth() ? "the same on host and device" : "WRONG");
    ok = ok && keys[0] == tree->depth();

    delete tree;
    delete[] counters;
    delete list;
    CHECK_CUDA(cudaFree(keys));
    CHECK_CUDA(cudaFree(lengths));
    std::puts(ok ? "PASSED" : "FAILED");
    return ok ? 0 : 1;
}
