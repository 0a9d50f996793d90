import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/**
 * What workerd writes about a request of the Worker that could not connect: the error, sometimes with an exception of
 * several lines, and native addresses. The Worker logs the outcome in a line of its own.
 */
const isConnectionError =
  /(DNS lookup failed|Name or service not known|Temporary failure in name resolution|No address associated|Connection refused|Connection reset|Network is unreachable|No route to host|Connection timed out|connect\(\)|getaddrinfo|gai_strerror|abortRead\(\) has been called|disconnected:)/i;
const isNative = /^\S*(workerd|kj|capnp)\/\S+:\d+:|^(exception|remote exception) = /;
/** Remarks of the runtime to its own authors. */
const isRemark = /^\S*workerd\/\S+:\d+: warning: NOSENTRY /;
const isStack = /^stack: /;

/** Drops the native traces of failed lookups and connections; everything else passes, line by line. */
export function withoutNativeTraces(): Transform {
  let isDropping = false;
  return byLine((line) => {
    if (isStack.test(line)) return !isDropping;
    isDropping = isRemark.test(line) || (isNative.test(line) && isConnectionError.test(line));
    return !isDropping;
  });
}

/** Drops the Worker's own log lines of one subject, unless they tell of a failure. */
export function withoutSubject(subject: string): Transform {
  return byLine((line) => !(line.includes(`"subject":"${subject}"`) && /"status":2\d\d/.test(line)));
}

function byLine(isKept: (line: string) => boolean): Transform {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const lines = `${rest}${decoder.write(chunk)}`.split("\n");
      rest = lines.pop() ?? "";
      done(
        null,
        lines
          .filter(isKept)
          .map((line) => `${line}\n`)
          .join(""),
      );
    },
    flush(done: TransformCallback) {
      done(null, rest !== "" && isKept(rest) ? rest : "");
    },
  });
}
