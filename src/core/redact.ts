/** Redacts secrets and e-mail addresses in texts that we did not write ourselves. */
import { SECRET_PREFIXES } from './secret.ts';

const SECRETS = new RegExp(`\\b(${Object.values(SECRET_PREFIXES).join('|')})_[0-9A-Za-z]{8,}`, 'g');
const ADDRESSES = /[^\s"'<>()[\]:;,@]{1,64}@[^\s"'<>()[\]:;,@]{1,255}/g;

export function redact(text: string): string {
  return text.replace(SECRETS, '$1_[redacted]').replace(ADDRESSES, '[redacted]');
}
