// A model of how work scales: what one and two devices took says what four and eight will.
//
//     Scaling scaling;
//     scaling.add("2^29", 1, seconds_of_one);
//     scaling.add("2^29", 2, seconds_of_two);
//     scaling.show(lesson, "us", 1e6);     // a table with 4 and 8, measured where they are
//
// The model is T(n) = W / n + o for n > 1, and T(1) = W: the work is split evenly, and
// bringing the devices together costs the same for any number of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

class Scaling {
public:
    // `weak`: each device has as much work as one device had, so that T(n) = W + o.
    explicit Scaling(bool weak = false) : weak_(weak) {}

    void add(const std::string& what, int devices, double seconds) {
        if (times_.find(what) == times_.end()) order_.push_back(what);
        times_[what][devices] = seconds;
    }

    // What the model says; needs the times of one and of two devices.
    double predicted(const std::string& what, int devices) const {
        const std::map<int, double>& times = times_.at(what);
        const double work = times.at(1);
        const double overhead = times.at(2) - share_of(work, 2);
        return devices == 1 ? work : share_of(work, devices) + overhead;
    }

    // Nothing is shown where there is only one device.
    void show(warpwise::Lesson& lesson, const std::string& name, const std::string& unit,
              double per_second) const {
        std::vector<std::vector<std::string>> rows;
        for (const std::string& what : order_) {
            const std::map<int, double>& times = times_.at(what);
            if (times.count(2) == 0) continue;
            const double overhead = times.at(2) - share_of(times.at(1), 2);
            std::vector<std::string> row = {
                what, warpwise::text_of("%.2f", times.at(1) * per_second),
                warpwise::text_of("%.2f", overhead * per_second)};
            for (const int devices : {4, 8}) {
                row.push_back(
                    warpwise::text_of("%.2f", predicted(what, devices) * per_second));
                const auto measured = times.find(devices);
                row.push_back(
                    measured == times.end()
                        ? "-"
                        : warpwise::text_of("%.2f", measured->second * per_second));
            }
            rows.push_back(row);
        }
        if (rows.empty()) return;
        lesson.table({name, "Predicted from one and two devices, in " + unit},
                     {"problem", "work", "overhead", "4 predicted", "4 measured",
                      "8 predicted", "8 measured"},
                     rows);
    }

private:
    double share_of(double work, int devices) const {
        return weak_ ? work : work / devices;
    }

    bool weak_;
    std::vector<std::string> order_;
    std::map<std::string, std::map<int, double>> times_;
};

}  // namespace
}  // namespace several_gpus
