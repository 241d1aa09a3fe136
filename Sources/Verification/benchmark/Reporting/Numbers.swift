extension Int {
    /// The number with a comma between thousands.
    var grouped: String {
        let digits = String(magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }
}

extension Double {
    /// Returns the number with the given number of decimals.
    func rounded(to decimals: Int) -> String {
        let factor = (0..<decimals).reduce(1) { factor, _ in factor * 10 }
        let scaled = Int((magnitude * Double(factor)).rounded())
        let sign = self < 0 && scaled > 0 ? "-" : ""
        if decimals == 0 { return sign + scaled.grouped }
        let fraction = String(scaled % factor)
        return sign + (scaled / factor).grouped + "." + String(repeating: "0", count: decimals - fraction.count)
            + fraction
    }

    /// The number with the precision of a measurement: at least three digits.
    var measured: String { rounded(to: magnitude < 10 ? 2 : magnitude < 100 ? 1 : 0) }

    /// The number with the precision of a ratio: at least two digits.
    var ratio: String { rounded(to: magnitude < 0.01 ? 4 : magnitude < 0.1 ? 3 : 2) }
}

extension String {
    func padded(to width: Int, onLeft: Bool = false) -> String {
        let padding = String(repeating: " ", count: Swift.max(0, width - count))
        return onLeft ? padding + self : self + padding
    }
}
