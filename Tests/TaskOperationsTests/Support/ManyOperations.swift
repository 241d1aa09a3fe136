import TestSupport

/// A number of operations that is large enough to show that no step is quadratic or recursive. Even with a quarter of
/// the number, a quadratic step would take minutes or hours, and a recursive step would overflow the stack. Debug
/// builds use a smaller number, because a million operations that depend on each other take more than 20 seconds there.
#if DEBUG
    let many = isDeep ? 60_000 : 20_000
#else
    let many = 1_000_000
#endif

/// A smaller number for tests of secondary costs, to limit the duration of all tests.
let tensOfThousands = many / 4
