import Simulation
import TaskOperationsExtras

/// Draws simulations of a server whose capacity changes, and of clients that adapt to it or do not.
///
/// The upper panel shows the number of requests that are sent at once, the lower one their latency as a multiple of the
/// latency without load. The simulations have fixed seeds, so the picture is the same on each machine.
enum CapacityChart {
    private struct Client {
        let name: String
        let styleClass: String
        let points: [ServerModel.Point]
    }

    static let serviceTime = 0.03
    private static let end = 24.0

    static func svg() -> String {
        let clients = [
            Client(name: "a fixed capacity of 30", styleClass: "fixed", points: simulate(within: 30...30)),
            Client(name: "an adapted capacity", styleClass: "adapted", points: simulate(within: 1...200)),
        ]
        let capacities = Panel(title: "Requests at once", top: 72, values: 0...50, step: 10, unit: "")
        let latencies = Panel(
            title: "Latency, as a multiple of the latency without load", top: 332, values: 0...4, step: 1, unit: "×")
        return SVG.document(
            width: 760, height: 600, style: style, title: "Capacity and latency of a simulated server",
            legend(clients) + capacities.grid + latencies.grid
                + [capacities.steps(serverCapacities, class: "server")]
                + clients.flatMap { client in
                    [
                        capacities.steps(
                            client.points.map { ($0.time, Double($0.clientCapacity)) }, class: client.styleClass),
                        latencies.steps(
                            client.points.filter { $0.latency > 0 }.map { ($0.time, $0.latency / serviceTime) },
                            class: client.styleClass),
                    ]
                } + [SVG.text("seconds", x: Panel.left + Panel.width / 2, y: 588, class: "label")])
    }

    private static let changes: [(time: Double, capacity: Int)] = [(8, 10), (16, 40)]
    private static let firstCapacity = 20

    private static var serverCapacities: [(Double, Double)] {
        var points = [(0.0, Double(firstCapacity))]
        for change in changes {
            points += [(change.time, points.last!.1), (change.time, Double(change.capacity))]
        }
        return points + [(end, points.last!.1)]
    }

    private static func simulate(within bounds: ClosedRange<Int>) -> [ServerModel.Point] {
        var rule = CapacityRule()
        rule.window = .milliseconds(100)
        var server = ServerModel(
            capacity: firstCapacity, serviceTime: serviceTime,
            meter: CapacityMeter(rule, within: bounds, from: bounds.lowerBound == 30 ? 30 : firstCapacity), seed: 7)
        for change in changes {
            server.run(until: change.time)
            server.capacity = change.capacity
        }
        server.run(until: end)
        return server.points
    }

    private static func legend(_ clients: [Client]) -> [String] {
        let entries = [("the server's capacity", "server")] + clients.map { ($0.name, $0.styleClass) }
        return entries.enumerated().flatMap { column, entry in
            let x = Panel.left + Double(column) * 172
            return [
                SVG.line([(x, 20), (x + 24, 20)], class: entry.1), SVG.text(entry.0, x: x + 30, y: 24, class: "legend"),
            ]
        }
    }

    private struct Panel {
        static let left = 56.0
        static let width = 680.0
        private static let height = 210.0

        let title: String
        let top: Double
        let values: ClosedRange<Double>
        let step: Double
        let unit: String

        private func point(_ time: Double, _ value: Double) -> (x: Double, y: Double) {
            let part = (min(value, values.upperBound) - values.lowerBound) / (values.upperBound - values.lowerBound)
            return (Self.left + min(time, end) / end * Self.width, top + Self.height * (1 - part))
        }

        var grid: [String] {
            var elements = [SVG.text(title, x: Self.left, y: top - 12, class: "title")]
            for value in stride(from: values.lowerBound, through: values.upperBound, by: step) {
                let (start, finish) = (point(0, value), point(end, value))
                elements.append(SVG.line([start, finish], class: "grid"))
                elements.append(SVG.text("\(Int(value))\(unit)", x: start.x - 8, y: start.y + 4, class: "value"))
            }
            for time in stride(from: 0, through: end, by: 4) {
                let (lower, upper) = (point(time, values.lowerBound), point(time, values.upperBound))
                elements.append(SVG.line([lower, upper], class: "grid"))
                elements.append(SVG.text("\(Int(time))", x: lower.x, y: lower.y + 18, class: "label"))
            }
            return elements
        }

        func steps(_ values: [(time: Double, value: Double)], class name: String) -> String {
            SVG.line(values.map { point($0.time, $0.value) }, class: name)
        }
    }

    private static let style = """
        text { font: 12px system-ui, sans-serif; fill: #444; text-anchor: middle }
        .title { font-weight: 600; text-anchor: start } .legend { text-anchor: start } .value { text-anchor: end }
        .paper { fill: #fff } .grid { stroke: #ddd; stroke-width: 1 }
        polyline { fill: none; stroke-width: 2 } .server { stroke: #777; stroke-width: 2; stroke-dasharray: 6 4 }
        .adapted { stroke: #d6401f } .fixed { stroke: #23893f }
        @media (prefers-color-scheme: dark) {
          text { fill: #ccc } .paper { fill: #0d1117 } .grid { stroke: #30363d } .server { stroke: #999 }
          .adapted { stroke: #ff7b57 } .fixed { stroke: #4cc26c }
        }
        """
}
