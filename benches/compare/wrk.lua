-- Script of wrk: requests the paths in a file in turns, and prints the result as JSON.

local requests, at = {}, 0

function init(arguments)
    for path in io.lines(arguments[1]) do
        requests[#requests + 1] = wrk.format("GET", path)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\nJSON {"requests": %d, "seconds": %f, "p50_ms": %f, "p99_ms": %f, "errors": %d}\n',
        summary.requests, summary.duration / 1e6,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout
    ))
end
