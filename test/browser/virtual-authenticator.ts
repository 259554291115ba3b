/** An authenticator of the browser's own (DevTools protocol): it makes and uses passkeys without anybody touching it. */
import type { Page } from '../support/browser.ts';

/** A passkey as the authenticator keeps it. */
export interface StoredPasskey {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId: string;
  readonly privateKey: string;
  readonly userHandle: string;
  readonly signCount: number;
}

export interface VirtualAuthenticator {
  passkeys(): Promise<StoredPasskey[]>;
  add(passkey: StoredPasskey): Promise<void>;
  clear(): Promise<void>;
  /** Whether it recognises the person from now on. */
  setUserVerified(isUserVerified: boolean): Promise<void>;
  /** Whether somebody touches it when it asks; while nobody does, a ceremony stays open. */
  setTouched(isTouched: boolean): Promise<void>;
}

/** A platform authenticator with user verification, touched whenever it asks. */
export async function addAuthenticator({ view }: Page): Promise<VirtualAuthenticator> {
  await view.cdp('WebAuthn.enable');
  const { authenticatorId } = (await view.cdp('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })) as { authenticatorId: string };
  const send = (command: string, parameters: object = {}) =>
    view.cdp(`WebAuthn.${command}`, { authenticatorId, ...parameters });
  return {
    passkeys: async () => ((await send('getCredentials')) as { credentials: StoredPasskey[] }).credentials,
    add: async (credential) => void (await send('addCredential', { credential })),
    clear: async () => void (await send('clearCredentials')),
    setUserVerified: async (isUserVerified) => void (await send('setUserVerified', { isUserVerified })),
    setTouched: async (enabled) => void (await send('setAutomaticPresenceSimulation', { enabled })),
  };
}
