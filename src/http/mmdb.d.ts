declare module '*.mmdb' {
  /** Where it lies: among the packages, or inside the binary. */
  const path: string;
  export default path;
}
