/** Reads how an OAuth client shows who it is: in a header or in the body (RFC 6749 §2.3.1), or by an API key as bearer. */
import { invalidField } from '../core/error.ts';

/** What a client has shown, and in which way. */
export type ClientShown =
  | { readonly way: 'basic' | 'post'; readonly clientId: string; readonly secret: string }
  | { readonly way: 'key'; readonly key: string };

/** A header counts before the body. @returns null where nothing is shown that could be a credential. */
export function clientShown(authorization: string | null, sent: unknown): ClientShown | null {
  if (authorization === null) return shownInBody(sent);
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { way: 'key', key: value };
  return scheme.toLowerCase() === 'basic' ? shownInHeader(value) : null;
}

/** What is asked of a client that was not known: the scheme it used (RFC 6749 §5.2), else the one all of them have. */
export function challengeOf(shown: ClientShown | null): string {
  return shown?.way === 'key' ? 'Bearer' : 'Basic realm="gatehouse"';
}

/**
 * A client shows itself in one way in a call, and as one client (RFC 6749 §2.3). A key stands for no clientId, and clients
 * that use one may send theirs all the same.
 *
 * @throws {AppError} invalid_request
 */
export function refuseSecondWay(shown: ClientShown, sent: unknown): void {
  if (shown.way === 'post') return;
  if (textOf(sent, 'client_secret') !== null)
    throw invalidField('client_secret', 'Send the credential once: in the header, or here.');
  const clientId = textOf(sent, 'client_id');
  if (shown.way === 'basic' && clientId !== null && clientId !== shown.clientId)
    throw invalidField('client_id', 'The header names another client; leave this out.');
}

function shownInBody(sent: unknown): ClientShown | null {
  const [clientId, secret] = [textOf(sent, 'client_id'), textOf(sent, 'client_secret')];
  return clientId === null || secret === null ? null : { way: 'post', clientId, secret };
}

function shownInHeader(value: string): ClientShown | null {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const [clientId, secret] = [formDecoded(text.slice(0, colon)), formDecoded(text.slice(colon + 1))];
  return colon < 0 || clientId === null || secret === null ? null : { way: 'basic', clientId, secret };
}

/** Null for what is not there, and for what is without a value, which is the same (RFC 6749 §3.1). */
function textOf(sent: unknown, name: string): string | null {
  const value: unknown = (sent as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Both parts are encoded as in a form before they are put together. */
function formDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
