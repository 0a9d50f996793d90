/** Compiled by the bundler. */
declare const dots: WebAssembly.Module;
export default dots;
