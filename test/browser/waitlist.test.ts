/** The first step says whom an application lets in, and takes a request for access without a code, at both widths. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { atBothWidths } from './waitlist-scene.ts';

setDefaultTimeout(60_000);

atBothWidths((scene) => {
  test('the first step says that it is a private beta, and access is requested there without a code', async () => {
    const { waitlist, page } = scene;
    const application = await waitlist.createApplication('Harbour', 'private_beta');
    const email = waitlist.newAddress();
    await page.visit(application);
    expect(await page.text('#gate')).toBe('In private beta. No invitation? Request access');
    await page.view.click('#ask-access');
    await page.untilFocused('request-email');
    await page.view.type('nonsense');
    await page.view.press('Enter');
    await page.untilText('#request-email-error', /does not look like an e-mail/);
    await page.fill('#request-email', email);
    await page.view.press('Enter');
    await page.untilHeading(/^Your request is recorded$/);
    expect(await page.text('.lead')).toContain(email);
    await page.reload();
    await page.untilHeading(/^Your request is recorded$/);
    await page.view.click('#refused-change-email');
    await page.untilVisible('#email-form');
    expect(await page.typedAddress()).toBe(email);
    await page.visitAgain(application);
    await page.untilGate(/^In private beta\. Your request of /);
    expect(await page.text('#gate')).toBe(`In private beta. Your request of ${await page.today()} is recorded.`);
    expect(await page.typedAddress()).toBe(email);
  });

  test('Back leads from the request to the sign-in', async () => {
    const { waitlist, page } = scene;
    await page.visit(await waitlist.createApplication('Harbour', 'private_beta'));
    await page.view.click('#ask-access');
    await page.untilVisible('#request-form');
    await page.evaluate('history.back()');
    await page.untilVisible('#email-form');
    await page.view.click('#ask-access');
    await page.untilVisible('#request-form');
    await page.view.click('#request-back');
    await page.untilVisible('#email-form');
  });

  test('a closed application takes an address to be told at the opening, without a code', async () => {
    const { waitlist, page } = scene;
    const application = await waitlist.createApplication('Mole', 'closed');
    await page.visit(application);
    await page.request(waitlist.newAddress());
    await page.untilHeading(/^We will tell you$/);
    await waitlist.setGate(application, 'public');
    await page.untilHeading(/^Mole is open now$/);
    await page.view.click('#sign-in-now');
    await page.untilVisible('#email-form');
  });

  test('who asked on a German page is written to in German', async () => {
    const { waitlist, page } = scene;
    const application = await waitlist.createApplication('Hafen', 'private_beta');
    const email = waitlist.newAddress();
    await page.visit(application, 'de');
    await page.request(email);
    await page.untilHeading(/^Ihre Anfrage ist eingegangen$/);
    const { items } = await waitlist.manage('GET', `/api/applications/${application.id}/beta-interests`);
    await waitlist.manage('POST', `/api/applications/${application.id}/beta-interests/${items[0].id}/approve`, {
      notify: true,
    });
    const mail = await waitlist.mailTo(email);
    expect(mail.subject).toBe('Sie können sich jetzt bei Hafen anmelden');
    expect(mail.text).toContain('Ihre Anfrage wurde genehmigt');
  });
});
