// Strong indices: an op is not a slot, a slot is not a device.
#pragma once

#include <cstdint>
#include <type_traits>

namespace graphjit::inline v0 {

/// Position of an op in its recording, counted from 0.
enum class OpIndex : std::uint32_t { none = 0xffff'ffffu };

/// Position of a slot (`Input`, `Variable`, `Slot`) in its recording.
enum class SlotIndex : std::uint32_t { none = 0xffff'ffffu };

/// Position of a piece of memory (registered buffer or input) in its recording.
enum class MemoryIndex : std::uint32_t { none = 0xffff'ffffu };

/// A device of the chosen backend, counted from 0. On the CPU backend devices are labels.
enum class DeviceId : std::uint16_t {};

template <class Index>
[[nodiscard]] constexpr std::uint32_t to_integer(Index index) noexcept
    requires(std::is_enum_v<Index>)
{
    return static_cast<std::uint32_t>(index);
}

}  // namespace graphjit::inline v0
