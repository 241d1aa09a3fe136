import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two lines of work, each in its order, of which one piece at a time uses the disk.
    public static func targetQueues(_ input: RecipeInput) throws -> RecipeResult {
        let meter = WorkMeter()
        // region: target-queues
        let disk = DispatchQueue(label: "disk")
        let names = DispatchQueue(label: "names", target: disk)
        let sizes = DispatchQueue(label: "sizes", target: disk)
        let (named, sized) = (Journal(), Journal())
        for file in input.files.prefix(5) {
            names.async { meter.measure { named.write(file.name) } }
            sizes.async { meter.measure { sized.write("\(file.size)") } }
        }
        names.sync {}
        sizes.sync {}
        return RecipeResult("\(meter.most) at once: \(sized.result.text), \(named.result.text)")
        // endregion
    }
}
