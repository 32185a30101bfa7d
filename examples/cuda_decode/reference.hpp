// The decoder once more, as plainly as can be and in double: what all others are held to.
#pragma once

#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace decode {

class Reference {
public:
    using Row = std::vector<double>;

    explicit Reference(const Model& model) : model_(model), keys_(model.layers.size()), values_(model.layers.size()) {}

    /// The next token of the text.
    void step(int token) {
        const Shape& shape = model_.shape;
        const auto width = static_cast<std::size_t>(shape.width);
        const float* embedding = model_.at(model_.embedding) + static_cast<std::size_t>(token) * width;
        Row x(embedding, embedding + width);
        for (std::size_t l = 0; l < model_.layers.size(); ++l) {
            const LayerParts& part = model_.layers[l];
            const Row normed = norm(part.attention_norm, x);
            Row query = product(part.query, normed), key = product(part.key, normed);
            turn(query);
            turn(key);
            keys_[l].push_back(key);
            values_[l].push_back(product(part.value, normed));
            attended_ = attend(query, keys_[l], values_[l]);
            add(x, product(part.output, attended_));

            const Row again = norm(part.mlp_norm, x);
            Row gate = product(part.gate, again);
            const Row up = product(part.up, again);
            for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1.0 + std::exp(-gate[i]));
            add(x, product(part.down, gate));
        }
        logits_ = product(model_.logits, norm(model_.final_norm, x));
        ++position_;
    }

    /// What the last layer's attention came to.
    [[nodiscard]] const Row& attended() const { return attended_; }
    [[nodiscard]] const Row& logits() const { return logits_; }

private:
    [[nodiscard]] Row norm(Part weight, const Row& x) const {
        double squares = 0.0;
        for (const double value : x) squares += value * value;
        Row result = x;
        for (std::size_t i = 0; i < x.size(); ++i) {
            result[i] *= static_cast<double>(model_.at(weight)[i]) /
                         std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
        }
        return result;
    }

    [[nodiscard]] Row product(Part matrix, const Row& x) const {
        const float* weight = model_.at(matrix);
        Row result(static_cast<std::size_t>(matrix.count) / x.size());
        for (double& sum : result) {
            for (const double value : x) sum += static_cast<double>(*weight++) * value;
        }
        return result;
    }

    /// Rotary position embedding.
    void turn(Row& x) const {
        const auto pairs = static_cast<std::size_t>(model_.shape.head_width() / 2);
        for (std::size_t first = 0; first < x.size(); first += 2 * pairs) {
            for (std::size_t i = 0; i < pairs; ++i) {
                const double angle = position_ *
                                     std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs));
                const double a = x[first + i], b = x[first + pairs + i];
                x[first + i] = a * std::cos(angle) - b * std::sin(angle);
                x[first + pairs + i] = a * std::sin(angle) + b * std::cos(angle);
            }
        }
    }

    [[nodiscard]] Row attend(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values) const {
        const auto head_width = static_cast<std::size_t>(model_.shape.head_width());
        Row result(query.size());
        for (std::size_t first = 0; first < query.size(); first += head_width) {
            Row shares(keys.size());
            double total = 0.0;
            for (std::size_t t = 0; t < keys.size(); ++t) {
                double score = 0.0;
                for (std::size_t i = first; i < first + head_width; ++i) score += query[i] * keys[t][i];
                shares[t] = std::exp(score / std::sqrt(static_cast<double>(head_width)));
                total += shares[t];
            }
            for (std::size_t t = 0; t < keys.size(); ++t) {
                for (std::size_t i = first; i < first + head_width; ++i) result[i] += shares[t] / total * values[t][i];
            }
        }
        return result;
    }

    static void add(Row& x, const Row& more) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += more[i];
    }

    const Model& model_;
    int position_ = 0;
    std::vector<std::vector<Row>> keys_, values_;  // by layer and position
    Row attended_, logits_;
};

}  // namespace decode
