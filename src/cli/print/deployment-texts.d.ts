declare module '*.service' {
  const text: string;
  export default text;
}

declare module '*.dockerfile' {
  const text: string;
  export default text;
}

declare module '*.conf' {
  const text: string;
  export default text;
}

declare module '*.caddyfile' {
  const text: string;
  export default text;
}

declare module '*.cfg' {
  const text: string;
  export default text;
}

declare module '*.txt' {
  const text: string;
  export default text;
}
