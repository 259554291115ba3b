declare module '*.br' {
  /** Where it lies: beside the module, or inside the binary. */
  const path: string;
  export default path;
}

declare module '*.gz' {
  /** Where it lies: beside the module, or inside the binary. */
  const path: string;
  export default path;
}
