// cuSPARSE's generic interface: products with a vector and with a matrix, a triangular solve, conversions.
#include <cusparse.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                       \
    do {                                                                  \
        const cusparseStatus_t status = (call);                           \
        if (status != CUSPARSE_STATUS_SUCCESS)                            \
            printf("%s: %s\n", #call, cusparseGetErrorString(status));    \
    } while (0)

template <class T>
T* on_device(const std::vector<T>& values) {
    T* d = nullptr;
    cudaMalloc(&d, values.size() * sizeof(T));
    cudaMemcpy(d, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}
template <class T>
void print(const char* name, const T* d, int n) {
    std::vector<T> values(n);
    cudaMemcpy(values.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s:", name);
    for (T value : values) printf(" %g", static_cast<double>(value));
    printf("\n");
}

int main() {
    // 1 0 2 0
    // 0 3 0 4
    // 5 0 6 0
    int* d_offsets = on_device(std::vector<int>{0, 2, 4, 6});
    int* d_columns = on_device(std::vector<int>{0, 2, 1, 3, 0, 2});
    float* d_values = on_device(std::vector<float>{1, 2, 3, 4, 5, 6});
    float* d_x = on_device(std::vector<float>{1, 2, 3, 4});
    float* d_y = on_device(std::vector<float>{1, 1, 1, 1});

    cusparseHandle_t handle;
    CHECK(cusparseCreate(&handle));
    cusparseSpMatDescr_t A;
    CHECK(cusparseCreateCsr(&A, 3, 4, 6, d_offsets, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    cusparseDnVecDescr_t x, y, x3, y4;
    CHECK(cusparseCreateDnVec(&x, 4, d_x, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&y, 3, d_y, CUDA_R_32F));
    const float one = 1, two = 2, zero = 0;
    size_t bytes = 0;
    CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, A, x, &one, y, CUDA_R_32F,
                                  CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    void* buffer;
    cudaMalloc(&buffer, bytes);
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, A, x, &one, y, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    print("2 A x + y", d_y, 3);

    CHECK(cusparseCreateDnVec(&x3, 3, d_x, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&y4, 4, d_y, CUDA_R_32F));
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &one, A, x3, &zero, y4, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    print("A^T x", d_y, 4);
    printf("a wrong size: %s\n",
           cusparseGetErrorName(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, x3, &zero, y,
                                             CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer)));

    // B by columns, C by rows.
    float* d_b = on_device(std::vector<float>{1, 0, 0, 0, 1, 2, 3, 4});
    float* d_c = on_device(std::vector<float>(6));
    cusparseDnMatDescr_t B, C;
    CHECK(cusparseCreateDnMat(&B, 4, 2, 4, d_b, CUDA_R_32F, CUSPARSE_ORDER_COL));
    CHECK(cusparseCreateDnMat(&C, 3, 2, 2, d_c, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, B, &zero, C,
                       CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
    print("A B", d_c, 6);

    float* d_dense = on_device(std::vector<float>(12));
    cusparseDnMatDescr_t dense;
    CHECK(cusparseCreateDnMat(&dense, 3, 4, 4, d_dense, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK(cusparseSparseToDense(handle, A, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
    print("dense", d_dense, 12);

    // Back, by columns, counted from 1.
    int* d_column_offsets = on_device(std::vector<int>(5));
    cusparseSpMatDescr_t by_columns;
    CHECK(cusparseCreateCsc(&by_columns, 3, 4, 0, d_column_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    CHECK(cusparseDenseToSparse_analysis(handle, dense, by_columns, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
    int64_t rows, columns, entries;
    CHECK(cusparseSpMatGetSize(by_columns, &rows, &columns, &entries));
    printf("%d x %d with %d entries\n", (int)rows, (int)columns, (int)entries);
    int* d_rows = on_device(std::vector<int>(entries));
    float* d_sorted = on_device(std::vector<float>(entries));
    CHECK(cusparseCscSetPointers(by_columns, d_column_offsets, d_rows, d_sorted));
    CHECK(cusparseDenseToSparse_convert(handle, dense, by_columns, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
    print("offsets", d_column_offsets, 5);
    print("rows", d_rows, 6);
    print("values", d_sorted, 6);

    // 2 0 0
    // 1 4 0
    // 3 0 5
    double* d_lower = on_device(std::vector<double>{2, 1, 4, 3, 5});
    int* d_coo_rows = on_device(std::vector<int>{0, 1, 1, 2, 2});
    int* d_coo_columns = on_device(std::vector<int>{0, 0, 1, 0, 2});
    double* d_right = on_device(std::vector<double>{2, 9, 13});
    double* d_solution = on_device(std::vector<double>(3));
    cusparseSpMatDescr_t L;
    CHECK(cusparseCreateCoo(&L, 3, 3, 5, d_coo_rows, d_coo_columns, d_lower, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    CHECK(cusparseSpMatSetAttribute(L, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    cusparseDnVecDescr_t right, solution;
    CHECK(cusparseCreateDnVec(&right, 3, d_right, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&solution, 3, d_solution, CUDA_R_64F));
    cusparseSpSVDescr_t solve;
    CHECK(cusparseSpSV_createDescr(&solve));
    const double factor = 1;
    CHECK(cusparseSpSV_analysis(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &factor, L, right, solution, CUDA_R_64F,
                                CUSPARSE_SPSV_ALG_DEFAULT, solve, nullptr));
    CHECK(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &factor, L, right, solution, CUDA_R_64F,
                             CUSPARSE_SPSV_ALG_DEFAULT, solve));
    print("L y = x", d_solution, 3);
    CHECK(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_TRANSPOSE, &factor, L, right, solution, CUDA_R_64F,
                             CUSPARSE_SPSV_ALG_DEFAULT, solve));
    print("L^T y = x", d_solution, 3);

    int* d_compressed = on_device(std::vector<int>(4));
    CHECK(cusparseXcoo2csr(handle, d_coo_rows, 5, 3, d_compressed, CUSPARSE_INDEX_BASE_ZERO));
    print("compressed", d_compressed, 4);

    CHECK(cusparseSpSV_destroyDescr(solve));
    for (cusparseSpMatDescr_t matrix : {A, by_columns, L}) CHECK(cusparseDestroySpMat(matrix));
    for (cusparseDnMatDescr_t matrix : {B, C, dense}) CHECK(cusparseDestroyDnMat(matrix));
    for (cusparseDnVecDescr_t vector : {x, y, x3, y4, right, solution}) CHECK(cusparseDestroyDnVec(vector));
    CHECK(cusparseDestroy(handle));
    for (void* memory : std::initializer_list<void*>{d_offsets, d_columns, d_values, d_x, d_y, buffer, d_b, d_c, d_dense,
                                                     d_column_offsets, d_rows, d_sorted, d_lower, d_coo_rows,
                                                     d_coo_columns, d_right, d_solution, d_compressed})
        cudaFree(memory);
    return 0;
}
