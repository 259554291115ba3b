declare module '*.mmdb' {
  /** Path of the file: in node_modules, or inside the binary. */
  const path: string;
  export default path;
}
