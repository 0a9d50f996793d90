/** This machine, as a URL has its name. */
export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
