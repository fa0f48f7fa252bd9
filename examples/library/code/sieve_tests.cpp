// The four tests of Sieve, in the order in which they are run. None of them changes a value:
// a test only says whether a sample looks like water.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace tidepool::sieve {

using Clock = std::chrono::sys_time<std::chrono::milliseconds>;

/// A level with its time. Metres above chart datum.
struct Sample {
    Clock at;
    double level;
};

/// What a station may set; the defaults are those of Skerrow Head.
struct Limits {
    double lowest = -0.5;
    double highest = 7.5;
    double fastest = 0.04;  // metres per second
    double spike_sigma = 3.5;
    std::chrono::minutes flatline{20};
};

/// The window of the running median. An odd number, so that the middle is a sample.
constexpr std::size_t kMedianWindow = 21;

/// Turns a median absolute deviation into a standard deviation, if the noise is well behaved.
constexpr double kRobust = 1.4826;

/// Calm water has so little noise that any ripple would be a spike; it is never taken as less.
constexpr double kQuietest = 0.004;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Remembers as much of the past as the tests need, for one sensor.
class Sieve {
public:
    explicit Sieve(Limits limits) : limits_{limits} {}

    /// The name of the first test the sample fails; nothing if it passes all four.
    std::optional<std::string_view> first_failure(const Sample& sample) {
        const auto failure = judge(sample);
        remember(sample);
        return failure;
    }

private:
    std::optional<std::string_view> judge(const Sample& sample) const {
        if (sample.level < limits_.lowest || sample.level > limits_.highest) return "range";
        if (too_fast(sample)) return "rate";
        if (is_spike(sample)) return "spike";
        if (is_flat(sample)) return "flatline";
        return std::nullopt;
    }

    bool too_fast(const Sample& sample) const {
        if (past_.empty()) return false;
        const std::chrono::duration<double> apart = sample.at - past_.back().at;
        // After a gap there is nothing to compare with: the tide has had time to be anywhere.
        if (apart.count() <= 0 || apart > std::chrono::minutes{2}) return false;
        return std::abs(sample.level - past_.back().level) / apart.count() > limits_.fastest;
    }

    bool is_spike(const Sample& sample) const {
        if (past_.size() < kMedianWindow) return false;
        std::vector<double> window;
        for (auto one = past_.end() - kMedianWindow; one != past_.end(); ++one)
            window.push_back(one->level);
        const double middle = median(window);
        for (double& level : window) level = std::abs(level - middle);
        const double sigma = std::max(kRobust * median(window), kQuietest);
        return std::abs(sample.level - middle) > limits_.spike_sigma * sigma;
    }

    bool is_flat(const Sample& sample) const {
        if (past_.empty() || sample.at - past_.front().at < limits_.flatline) return false;
        return std::all_of(past_.begin(), past_.end(),
                           [&](const Sample& one) { return one.level == sample.level; });
    }

    void remember(const Sample& sample) {
        past_.push_back(sample);
        while (past_.size() > kMedianWindow && sample.at - past_.front().at > limits_.flatline)
            past_.pop_front();
    }

    Limits limits_;
    std::deque<Sample> past_;
};

}  // namespace tidepool::sieve
