// A small decoder with made-up weights.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace decode {

struct Shape {
    int layers = 4;
    int width = 256;
    int heads = 4;
    int vocabulary = 512;
    int context = 128;

    [[nodiscard]] int head_width() const { return width / heads; }
    [[nodiscard]] int hidden() const { return 2 * width; }
};

/// Where something lies among the weights.
/// Units: elements.
struct Part {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

struct LayerParts {
    Part attention_norm, query, key, value, output;
    Part mlp_norm, gate, up, down;
};

/// All weights lie in one piece, so that a device gets them in one go.
struct Model {
    Shape shape;
    std::vector<float> weights;
    Part embedding;
    Part turns;  // a cosine and a sine by position and pair: how far each pair of a head is turned there
    std::vector<LayerParts> layers;
    Part final_norm;
    Part logits;

    [[nodiscard]] const float* at(Part part) const { return weights.data() + part.first; }
};

/// The same numbers on every machine, which those of <random> are not.
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (splitmix64).
class Random {
public:
    /// From -1 to 1.
    [[nodiscard]] float next() {
        std::uint64_t bits = state_ += 0x9e37'79b9'7f4a'7c15u;
        bits = (bits ^ bits >> 30) * 0xbf58'476d'1ce4'e5b9u;
        bits = (bits ^ bits >> 27) * 0x94d0'49bb'1331'11ebu;
        bits ^= bits >> 31;
        return static_cast<float>(bits >> 40) / 8388608.0f - 1.0f;
    }

private:
    std::uint64_t state_ = 1;
};

[[nodiscard]] inline Model make_model(const Shape& shape) {
    Model model;
    model.shape = shape;
    std::vector<float>& weights = model.weights;
    Random random;
    const auto add = [&](std::int64_t count, float middle, float spread) {
        const auto first = static_cast<std::int64_t>(weights.size());
        for (std::int64_t i = 0; i < count; ++i) weights.push_back(middle + spread * random.next());
        return Part{first, count};
    };
    const auto norm = [&] { return add(shape.width, 1.0f, 0.25f); };
    const auto matrix = [&](int rows, int columns) {
        return add(std::int64_t{rows} * columns, 0.0f, std::sqrt(3.0f / static_cast<float>(columns)));
    };

    const int width = shape.width, hidden = shape.hidden(), pairs = shape.head_width() / 2;
    model.embedding = add(std::int64_t{shape.vocabulary} * width, 0.0f, 1.0f);
    model.turns = {static_cast<std::int64_t>(weights.size()), std::int64_t{2} * shape.context * pairs};
    for (int position = 0; position < shape.context; ++position) {
        for (int i = 0; i < pairs; ++i) {
            const double angle = position * std::pow(10000.0, -static_cast<double>(i) / pairs);
            weights.push_back(static_cast<float>(std::cos(angle)));
            weights.push_back(static_cast<float>(std::sin(angle)));
        }
    }
    for (int layer = 0; layer < shape.layers; ++layer) {
        model.layers.push_back({norm(), matrix(width, width), matrix(width, width), matrix(width, width),
                                matrix(width, width), norm(), matrix(hidden, width), matrix(hidden, width),
                                matrix(width, hidden)});
    }
    model.final_norm = norm();
    model.logits = matrix(shape.vocabulary, width);
    return model;
}

}  // namespace decode
