/** The first step follows the application while the page is open, at both widths. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { atBothWidths } from './waitlist-scene.ts';

setDefaultTimeout(60_000);

atBothWidths((scene) => {
  test('the first step follows the gate, an archive and its end, and the form keeps what was typed', async () => {
    const { waitlist, page } = scene;
    const application = await waitlist.createApplication('Mole', 'closed');
    await page.visit(application);
    expect(await page.text('#gate')).toBe('No new sign-ups at present. Tell me when it opens');
    await page.fill('#email', 'typed@example.com');
    await waitlist.setGate(application, 'private_beta');
    await page.untilGate(/^In private beta/);
    await waitlist.archive(application);
    await page.untilHeading(/^Mole is no longer in service$/);
    await waitlist.manage('POST', `/api/applications/${application.id}/unarchive`);
    await waitlist.setGate(application, 'public');
    await page.untilHeading(/^Sign in to Mole$/);
    expect(await page.typedAddress()).toBe('typed@example.com');
    await page.untilOpen();
  });
});
