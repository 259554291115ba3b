/** Explains SMTP failures in a sentence, and tells permanent failures of a mail from failures of the server. */
import type { Moment } from './smtp-conversation.ts';
import { serverWords, type Unspeakable } from './server-words.ts';
import { MailError } from './transport.ts';

export interface MailServer {
  readonly host: string;
  /** Host and port. */
  readonly address: string;
  readonly isTlsRequired: boolean;
  readonly timeoutMs: number;
}

interface Failure {
  readonly message?: string;
  readonly name?: string;
  /** nodemailer's error code. */
  readonly code?: string;
  /** Error code of the system or of TLS. */
  readonly originalCode?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
  readonly timeoutType?: string;
  /** Host names of a certificate for another host. */
  readonly reason?: string;
}

/** Commands whose replies concern the mail. All other replies concern the sender, settings or server: retried. */
const ABOUT_THE_MAIL = ['RCPT TO', 'DATA'];
/** Requires encryption or authentication (RFC 3207 §4, RFC 4954 §6), after any command. */
const NOT_LOGGED_IN = 530;

const CERTIFICATE_FAULTS: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'it comes from an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'it comes from an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'it comes from an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'it comes from an authority that is not known here, or without the certificates in between',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  CERT_REVOKED: 'it has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host',
};

/** Converts an error of nodemailer. @param moment state of the connection when it failed. */
export function failureOf(cause: unknown, server: MailServer, unspeakable: Unspeakable, moment: Moment): MailError {
  const failure = (typeof cause === 'object' && cause !== null ? cause : {}) as Failure;
  const { response, responseCode, command } = failure;
  if (response === undefined || responseCode === undefined)
    return new MailError(troubleOf(failure, server, unspeakable, moment), false, { cause });
  const said = serverWords(response, unspeakable);
  if (isWithoutTls(failure, server)) return new MailError(withoutTls(server, said), false, { cause });
  const isAboutTheMail = ABOUT_THE_MAIL.includes(command ?? '') && responseCode !== NOT_LOGGED_IN;
  const what = command === undefined || command === 'CONN' ? moment.answered : `in answer to ${command}`;
  const reason = isAboutTheMail ? said : `${said} (${what})`;
  return new MailError(reason, isAboutTheMail && responseCode >= 500, { cause });
}

/** Returns whether the server does not offer STARTTLS. Without a reply, the handshake failed instead. */
function isWithoutTls({ code, command, responseCode }: Failure, { isTlsRequired }: MailServer): boolean {
  const isUnknownCommand = command === 'EHLO' && responseCode !== undefined && [500, 502].includes(responseCode);
  return code === 'ETLS' || (isTlsRequired && isUnknownCommand);
}

const withoutTls = ({ host }: MailServer, said: string) =>
  `${host} takes no STARTTLS (${said}), and mail is not sent to another host in plain text; ` +
  'use TLS from the start (smtps://), or allow plain text (tls=optional)';

/** Describes a failure without a server reply: the connection failed. */
function troubleOf(failure: Failure, server: MailServer, unspeakable: Unspeakable, { awaited }: Moment): string {
  const { code, originalCode = code, timeoutType, name } = failure;
  const { host, address, timeoutMs } = server;
  const within = `within ${timeoutMs / 1000} s`;
  if (timeoutType === 'CONNECT_TIMEOUT') return `no connection to ${address} ${within}`;
  if (timeoutType === 'UPGRADE_TIMEOUT') return `no TLS handshake with ${address} ${within}`;
  if (code === 'ETIMEDOUT') return `${awaited} did not come from ${address} ${within}`;
  const fault = CERTIFICATE_FAULTS[originalCode ?? ''];
  if (fault !== undefined) return `the certificate of ${host} is not trusted: ${fault}${namesOf(failure)}`;
  if (originalCode === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `${address} does not answer in TLS; is it smtp://, or another port?`;
  if (originalCode === 'ECONNREFUSED') return `${address} refuses connections`;
  if (code === 'EDNS') return `the name ${host} cannot be resolved (${originalCode})`;
  if (code === 'ECONNECTION' || originalCode === 'ECONNRESET' || originalCode === 'EPIPE')
    return `${address} closed the connection before ${awaited} came`;
  const words = serverWords(failure.message ?? '', unspeakable);
  return `${originalCode ?? name ?? 'unknown error'} with ${address}${words === '' ? '' : `: ${words}`}`;
}

function namesOf({ reason }: Failure): string {
  const names = /altnames: (.{1,150})/.exec(reason ?? '')?.[1];
  return names === undefined ? '' : ` (${names})`;
}
