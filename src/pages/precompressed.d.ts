declare module '*.br' {
  /** Path of the file, next to the module or inside the binary. */
  const path: string;
  export default path;
}

declare module '*.gz' {
  /** Path of the file, next to the module or inside the binary. */
  const path: string;
  export default path;
}
