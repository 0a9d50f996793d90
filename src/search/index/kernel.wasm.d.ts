/** Compiled by the bundler. */
declare const kernel: WebAssembly.Module;
export default kernel;
