/** Checks mail: connection, encryption and login at the SMTP server and, on request, a test mail. */
import { isLoopback } from '../../core/ip-address.ts';
import { MailError } from '../../mail/transport.ts';
import { mailTestMail } from '../../mail/messages/mail-test.ts';
import { smtpTransport } from '../../mail/smtp.ts';
import { checkSmtp } from '../../mail/smtp-check.ts';
import { newId } from '../../core/id.ts';
import { SETTINGS } from '../../settings.ts';
import type { Mail } from '../../store/mails.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { DoctorContext } from './context.ts';

export interface MailFindings {
  readonly findings: readonly Finding[];
  /** Greeting of the SMTP server, which may contain its clock time. */
  readonly greeting: string | null;
}

const { smtpUrl } = SETTINGS;

/** @param ofConsole host and port that an owner has set in the console of the running server; null without one. */
export async function mailFindings(
  context: DoctorContext,
  sendTo: string | null,
  ofConsole: string | null,
): Promise<MailFindings> {
  const { config, note, timeoutMs } = context;
  const { ok, warn, fail } = findingsOf('mail');
  const ownMail = findingsOf('test mail');
  const unsent = (remedy: string) => (sendTo === null ? [] : ownMail.fail('Not sent: no mail server is set.', remedy));
  if (config.smtpUrl === null && ofConsole !== null) {
    const remedy = 'Send the test mail in the console, under Instance health.';
    const found = ok(`The running server sends by ${ofConsole}, as set in the console.`);
    return {
      findings: [
        ...found,
        ...(sendTo === null ? [] : ownMail.fail('Not sent: only the server has the password.', remedy)),
      ],
      greeting: null,
    };
  }
  if (config.smtpUrl === null && note?.mailServer) {
    const remedy = `Run this with the server’s own environment (${smtpUrl.env}) to try it.`;
    const found = warn(
      `The running server sends by ${note.mailServer}; this command does not have its credentials.`,
      remedy,
    );
    return { findings: [...found, ...unsent(remedy)], greeting: null };
  }
  if (config.smtpUrl === null) {
    const remedy = `Set it in the console under Instance health, or set ${smtpUrl.env} and restart. Until then: gatehouse outbox list`;
    return {
      findings: [
        ...warn('No mail is sent: no mail server is set, codes stay in the outbox.', remedy),
        ...unsent(remedy),
      ],
      greeting: null,
    };
  }
  try {
    const { address, isEncrypted, isLoggedIn, greeting } = await checkSmtp(config.smtpUrl, timeoutMs);
    const how = `${address} accepts connections, ${isEncrypted ? 'encrypted' : 'in plain text'}, ${isLoggedIn ? 'with a login' : 'without a login'}.`;
    const isPlain = !isEncrypted && !isLoopback(address.replace(/:\d+$/, ''));
    const found = isPlain
      ? warn(how, `Others on the network can read codes and the password: use smtps:// or STARTTLS in ${smtpUrl.env}.`)
      : ok(how);
    const unused =
      note !== null && note.mailServer === null
        ? warn(
            `The running server does not use it, and sends ${ofConsole === null ? 'no mail' : `by ${ofConsole}`}.`,
            'Restart it with this setting.',
          )
        : [];
    const tested = sendTo === null ? [] : await testMail(context, config.smtpUrl, sendTo);
    return { findings: [...found, ...unused, ...tested], greeting };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const remedy = `Fix ${smtpUrl.env}, or ask the administrator of that mail server.`;
    return {
      findings: [
        ...fail(sentence(error.reason), remedy),
        ...(sendTo === null ? [] : ownMail.fail('Not sent.', remedy)),
      ],
      greeting: null,
    };
  }
}

async function testMail(
  { config, baseUrl, timeoutMs, now }: DoctorContext,
  url: string,
  to: string,
): Promise<Finding[]> {
  const { ok, fail } = findingsOf('test mail');
  const { hostname, host } = new URL(baseUrl);
  const from = config.mailFrom ?? `Gatehouse <no-reply@${hostname}>`;
  const transport = smtpTransport({ url, from, timeoutMs });
  const content = mailTestMail({ locale: 'en', workspaceName: host, host });
  const at = now();
  const mail: Mail = {
    ...content,
    id: newId('mail', at),
    recipient: to,
    code: null,
    status: 'queued',
    attempts: 1,
    nextAttemptAt: at,
    leasedUntil: null,
    leaseHolder: null,
    expiresAt: at,
    lastError: null,
    createdAt: at,
    sentAt: null,
    lane: 1,
    applicationId: null,
    workspaceId: null,
    senderName: null,
    replyTo: null,
  };
  try {
    const words = await transport.send(mail);
    return ok(`Accepted for ${to}, from ${from}; the server said: ${words ?? 'nothing'}`);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return fail(
      `Refused for ${to}: ${sentence(error.reason)}`,
      'That is the mail server’s answer: check the sender (GATEHOUSE_MAIL_FROM), the address, and your permissions there.',
    );
  } finally {
    transport.close();
  }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
