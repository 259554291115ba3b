/** Sender of an application's mails: images from the server's present address, and its support. */
import { describe, expect, test } from 'bun:test';
import { applicationSender } from '@/mail/application-sender.ts';

const BASE = 'https://id.example';
const UPLOAD = '/cdn/applications/app_1/logo.png?v=abc';

const APPLICATION = {
  id: 'app_1',
  name: 'Harbour',
  workspaceId: 'ws_1',
  clientId: 'cli_1',
  supportUrl: null,
  supportEmail: null,
  logoUrl: null,
  logoDarkUrl: null,
  accentColor: null,
  deletedAt: null,
};
const senderOf = (fields: Partial<Record<keyof typeof APPLICATION, string | number>>, baseUrl = BASE) =>
  applicationSender({ ...APPLICATION, ...(fields as object) }, baseUrl);

describe('an uploaded logo in a mail', () => {
  test.each(['https://old.example', 'http://localhost:8080', BASE])(
    'is loaded from the present base URL, also if it was uploaded at %s',
    (earlier) => {
      const { logoUrl, logoDarkUrl } = senderOf({
        logoUrl: earlier + UPLOAD,
        logoDarkUrl: `${earlier}/cdn/applications/app_1/logo-dark.png?v=def`,
      });
      expect(logoUrl).toBe(BASE + UPLOAD);
      expect(logoDarkUrl).toBe(`${BASE}/cdn/applications/app_1/logo-dark.png?v=def`);
    },
  );

  test('is left out on a server without https, and after the application was deleted', () => {
    expect(senderOf({ logoUrl: BASE + UPLOAD }, 'http://localhost:8080').logoUrl).toBeNull();
    expect(senderOf({ logoUrl: BASE + UPLOAD, deletedAt: 1 }).logoUrl).toBeNull();
  });
});

describe('a logo at another host', () => {
  test('is loaded over https only', () => {
    expect(senderOf({ logoUrl: 'https://cdn.example/logo.png' }).logoUrl).toBe('https://cdn.example/logo.png');
    for (const logoUrl of ['http://cdn.example/logo.png', 'data:image/png;base64,AA==', 'javascript:alert(1)'])
      expect(senderOf({ logoUrl, logoDarkUrl: logoUrl })).toMatchObject({ logoUrl: null, logoDarkUrl: null });
  });
});

describe('the support of an application in a mail', () => {
  test('is its page, else its address, else nothing', () => {
    const supportEmail = 'help+1?x@harbour.example';
    expect(senderOf({ supportUrl: 'https://harbour.example/help', supportEmail }).support).toBe(
      'https://harbour.example/help',
    );
    expect(senderOf({ supportEmail }).support).toBe('mailto:help%2B1%3Fx@harbour.example');
    expect(senderOf({}).support).toBeNull();
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example', 'file:///etc/passwd'])(
    'is nothing that a mail must not open: %s',
    (supportUrl) => expect(senderOf({ supportUrl }).support).toBeNull(),
  );
});
