/** What a provider can do wrong, told apart from faults of ours: for the log, never for the person. */

/** The provider gave no answer that can be used. The message is our own and holds nothing of a token or a code. */
export class ProviderFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ProviderFault';
  }
}
