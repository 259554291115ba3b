/** Draws the API reference from this server's description, and asks nobody else for anything. */

interface Scalar {
  createApiReference(selector: string, configuration: object): void;
}

declare global {
  interface Window {
    readonly Scalar: Scalar;
  }
}

window.Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  // The look is ours, in docs.css, and follows the scheme of the system by itself.
  theme: 'none',
  withDefaultFonts: false,
  hideDarkModeToggle: true,
  forceDarkModeState: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  // One search finds operations and guides.
  hideSearch: true,
  // Nothing of it is told to, fetched from, or sent through anybody else.
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  persistAuth: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
export {};
