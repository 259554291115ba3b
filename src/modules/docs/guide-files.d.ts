declare module '*.md' {
  const text: string;
  export default text;
}

declare module '*.webp' {
  /** Path of the file, next to the module or inside the binary. */
  const path: string;
  export default path;
}
