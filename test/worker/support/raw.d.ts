/** A file as its text, as Vite imports it. */
declare module "*?raw" {
  const text: string;
  export default text;
}
