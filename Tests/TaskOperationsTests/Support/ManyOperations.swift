import TaskOperationsExpectations

/// Enough operations to show that no step is quadratic or recursive. A quadratic step would take minutes or hours, and
/// a recursive step would overflow the stack, even with a quarter of the number. Debug builds use fewer, because a
/// million operations that depend on each other take more than 20 seconds there.
#if DEBUG
    let many = isDeep ? 60_000 : 20_000
#else
    let many = 1_000_000
#endif

/// A smaller number for tests of secondary costs, so that all tests together stay quick.
let tensOfThousands = many / 4
