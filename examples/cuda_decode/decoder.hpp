// One token through the decoder, as a graph. The text of this file is the same for every backend.
//
//   embedding ── norm ─┬─ query ──── rotate ────────┬─ scores ── softmax ─┬─ attend ── output ─┬─ norm ─┬─ gate ─┬─ …
//                      ├─ key ────── append (rotate)┘                     │                    │        └─ up ───┘
//                      └─ append value ───────────────────────────────────┘                    x
//
// None of these edges is written down below: they follow from the memory. `token` and `position` are Variables, and
// stand in the place of the embedding, in the places in the caches, in sizes, and in the number of groups of a launch.
#pragma once

#include "backend.hpp"
#include "model.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace decode {

/// All that a decoder remembers, and all that it works out on the way. Recordings hold its addresses.
struct Memory {
    explicit Memory(const Shape& shape)
        : x(shape.width), normed(shape.width), query(shape.width), turned_query(shape.width), key(shape.width),
          scores(std::int64_t{shape.context} * shape.heads), attended(shape.width), gate(shape.hidden()),
          up(shape.hidden()), hidden(shape.hidden()), logits(shape.vocabulary), host_logits(shape.vocabulary) {
        for (int layer = 0; layer < shape.layers; ++layer) {
            keys.emplace_back(std::int64_t{shape.context} * shape.width);
            values.emplace_back(std::int64_t{shape.context} * shape.width);
        }
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    DeviceArray x;  // what the layers add to
    DeviceArray normed, query, turned_query, key, scores, attended, gate, up, hidden, logits;
    std::vector<DeviceArray> keys, values;  // the caches, by layer
    HostArray host_logits;
};

/// What is different for each token.
struct Slots {
    gj::Variable token;
    gj::Variable position;
};

[[nodiscard]] inline gj::Result<gj::OpListOf<Backend>> record_token(const Device& device, const Model& model,
                                                                    const DeviceArray& model_weights, Memory& memory,
                                                                    Slots& slots) {
    const Shape& shape = model.shape;
    const int width = shape.width, heads = shape.heads, head_width = shape.head_width(), hidden = shape.hidden();
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_width));
    const auto rms_norm = device.kernel<decode::rms_norm>("rms_norm");
    const auto linear = device.kernel<decode::linear>("linear");
    const auto linear_add = device.kernel<decode::linear_add>("linear_add");
    const auto rotate = device.kernel<decode::rotate>("rotate");
    const auto score = device.kernel<decode::score>("score");
    const auto softmax = device.kernel<decode::softmax>("softmax");
    const auto attend = device.kernel<decode::attend>("attend");
    const auto swiglu = device.kernel<decode::swiglu>("swiglu");
    const auto groups = [](const gj::Expr& count_x, const gj::Expr& count_y = 1) {
        return gj::LaunchExprs{.groups = {count_x, count_y}, .group_size = {Group::lanes}};
    };

    gj::Recorder<Backend> rec(device.backend());
    slots.token = rec.variable("token", {.min = 0, .max = shape.vocabulary - 1});
    slots.position = rec.variable("position", {.min = 0, .max = shape.context - 1});
    const gj::Variable token = slots.token, position = slots.position;
    const gj::Expr positions = rec.let(position + 1);

    const gj::Buffer<const float> weights = rec.buffer("weights", model_weights);
    const auto weight = [&](Part part) { return weights.slice(part.first, part.count); };
    const auto x = rec.buffer("x", memory.x);
    const auto normed = rec.buffer("normed", memory.normed);
    const auto query = rec.buffer("query", memory.query);
    const auto turned_query = rec.buffer("turned query", memory.turned_query);
    const auto key = rec.buffer("key", memory.key);
    const auto attended = rec.buffer("attended", memory.attended);
    const auto gate = rec.buffer("gate", memory.gate);
    const auto up = rec.buffer("up", memory.up);
    const auto activated = rec.buffer("hidden", memory.hidden);
    const auto logits = rec.buffer("logits", memory.logits);
    const auto host_logits = rec.buffer("logits on the host", memory.host_logits, host_memory);

    const auto turns = weight(model.turns).slice(position * head_width, head_width);
    const auto scores = rec.buffer("scores", memory.scores).slice(0, positions * heads);

    rec.copy("embed", x, weight(model.embedding).slice(token * width, width));
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
        const LayerParts& part = model.layers[l];
        const std::string layer = "layer " + std::to_string(l) + ": ";
        const auto launch = [&](const char* name, const auto&... what) { rec.launch((layer + name).c_str(), what...); };
        const auto keys = rec.buffer((layer + "keys").c_str(), memory.keys[l]);
        const auto values = rec.buffer((layer + "values").c_str(), memory.values[l]);
        const auto new_key = keys.slice(position * width, width);
        const auto new_value = values.slice(position * width, width);
        const auto keys_so_far = keys.slice(0, positions * width);
        const auto values_so_far = values.slice(0, positions * width);

        launch("attention norm", rms_norm, groups(1), width, x, weight(part.attention_norm), normed);
        launch("query", linear, groups(width), width, weight(part.query), normed, query);
        launch("key", linear, groups(width), width, weight(part.key), normed, key);
        launch("append value", linear, groups(width), width, weight(part.value), normed, new_value);
        launch("rotate query", rotate, groups(heads), head_width, turns, query, turned_query);
        launch("append key", rotate, groups(heads), head_width, turns, key, new_key);
        launch("scores", score, groups(positions, heads), heads, head_width, scale, turned_query, keys_so_far, scores);
        launch("softmax", softmax, groups(heads), positions, heads, scores);
        launch("attend", attend, groups(heads), positions, heads, head_width, scores, values_so_far, attended);
        launch("output", linear_add, groups(width), width, weight(part.output), attended, x);

        launch("MLP norm", rms_norm, groups(1), width, x, weight(part.mlp_norm), normed);
        launch("gate", linear, groups(hidden), width, weight(part.gate), normed, gate);
        launch("up", linear, groups(hidden), width, weight(part.up), normed, up);
        launch("SwiGLU", swiglu, groups(hidden / Group::lanes), gate, up, activated);
        launch("down", linear_add, groups(width), hidden, weight(part.down), activated, x);
    }
    rec.launch("final norm", rms_norm, groups(1), width, x, weight(model.final_norm), normed);
    rec.launch("logits", linear, groups(shape.vocabulary), width, weight(model.logits), normed, logits);
    rec.copy("fetch logits", host_logits, logits);
    return std::move(rec).finish();
}

/// A decoder and what runs it: a gj::MultiGraphRunner or a gj::EagerRunner.
template <class Runner>
class Decoder {
public:
    Decoder(Runner&& runner, const Slots& slots, const Memory& memory)
        : runner_(std::move(runner)), slots_(slots), memory_(memory) {}

    /// Returns at once on a backend that works by itself.
    [[nodiscard]] gj::Status start(int token, int position) noexcept {
        return runner_.set(slots_.token, token).set(slots_.position, position).replay();
    }
    [[nodiscard]] gj::Status wait() noexcept { return runner_.wait(); }

    [[nodiscard]] const Memory& memory() const { return memory_; }
    [[nodiscard]] Runner& runner() { return runner_; }

private:
    Runner runner_;
    Slots slots_;
    const Memory& memory_;
};

}  // namespace decode
