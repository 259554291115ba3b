/** Renders the API reference from this server's description, without third-party requests. */

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
  // Styled by docs.css, which follows the system's colour scheme.
  theme: 'none',
  withDefaultFonts: false,
  hideDarkModeToggle: true,
  forceDarkModeState: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  // The documentation's own search covers operations and guides.
  hideSearch: true,
  // Disables everything that contacts third parties.
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
