import TaskOperationsExpectations

/// As many operations as show that nothing is quadratic or recursive: a quadratic step would take minutes or hours,
/// and a recursive one overflow the stack of a test that computes at a quarter of it. In debug builds fewer, as a
/// million operations that depend on each other take more than twenty seconds there.
#if DEBUG
    let many = isDeep ? 60_000 : 20_000
#else
    let many = 1_000_000
#endif

/// A smaller number for tests of secondary costs, so that all tests together stay quick.
let tensOfThousands = many / 4
