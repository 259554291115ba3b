/** E-mail addresses: one normal form, so that an address is one account however it is typed. */
import { domainToASCII } from 'node:url';

const LOCAL_PART = /^[^\s\p{C}"(),:;<>@[\\\]]+$/u;
/** Characters accepted in a typed domain; checked first, because the conversion repairs text that looks like a URL. */
const TYPED_DOMAIN = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;
/** Domains without mailboxes: `.invalid` (RFC 2606 §2), which our synthetic principals use, and bare IPv4 addresses. */
const NO_MAILBOX = /\.(?:invalid|\d+)$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/**
 * Returns the canonical form: trimmed, NFC, lower-cased, the domain in ASCII (RFC 5891). The local part is lower-cased
 * although RFC 5321 §2.4 lets it be case-sensitive: no provider in use treats it so, and two accounts for one mailbox
 * are worse.
 *
 * @returns `null` for text that cannot be an address. Quoted local parts and bare hosts are refused on purpose.
 */
export function normalizeEmail(text: string): string | null {
  if (text.length > 320) return null;
  const trimmed = text.trim().normalize('NFC');
  const at = trimmed.lastIndexOf('@');
  if (at < 1) return null;
  const local = trimmed.slice(0, at).toLowerCase();
  const typed = trimmed.slice(at + 1);
  if (!TYPED_DOMAIN.test(typed)) return null;
  const domain = domainToASCII(typed).toLowerCase();
  if (Buffer.byteLength(local) > 64 || local.startsWith('.') || local.endsWith('.') || local.includes('..'))
    return null;
  if (!LOCAL_PART.test(local) || !DOMAIN.test(domain) || NO_MAILBOX.test(domain)) return null;
  const address = `${local}@${domain}`;
  return Buffer.byteLength(address) > 254 ? null : address;
}

/** Checks a sender of mails, such as `Acme <no-reply@acme.example>` or an address alone. @returns null if it is invalid. */
export function parseSender(text: string): string | null {
  const address = /<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return /[\r\n]/.test(text) || normalizeEmail(address) === null ? null : text;
}
