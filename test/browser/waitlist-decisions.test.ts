/** A person who asked for access reads since when, and what became of it, without loading the page again. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { atBothWidths } from './waitlist-scene.ts';

setDefaultTimeout(60_000);

atBothWidths((scene) => {
  test('a second visit says since when the request waits; an approval shows by itself, also after a reload', async () => {
    const { waitlist, page } = scene;
    const application = await waitlist.createApplication('Quay', 'private_beta');
    const email = waitlist.newAddress();
    await page.visit(application);
    await page.prove(email);
    await page.untilHeading(/^You are not on the list yet$/);
    await page.view.click('#interest');
    await page.untilHeading(/^Your request is recorded$/);
    await page.forget();
    await waitlist.later();
    await page.visitAgain(application);
    await page.prove(email);
    await page.untilHeading(/^Your request of .* is waiting$/);
    expect(await page.text('h1')).toBe(`Your request of ${await page.today()} is waiting`);
    expect(await page.isVisible('#interest')).toBe(false);
    await page.reload();
    await page.untilHeading(/^Your request of .* is waiting$/);
    await waitlist.decide(application, 'approve');
    await page.untilHeading(/^You are on the list$/);
    await page.reload();
    await page.untilHeading(/^You are on the list$/);
    await page.view.click('#sign-in-now');
    await waitlist.later();
    await page.prove(email);
    await page.untilVisible('#signed-in, #offer');
    await page.visitAgain(application);
    await page.untilVisible('#accounts');
    await page.view.click('#another-account');
    await page.untilVisible('#email-form');
    expect(await page.text('#gate')).toContain('No invitation?');
  });

  test('a decline shows by itself, and a later opening too', async () => {
    const { waitlist, page } = scene;
    const application = await waitlist.createApplication('Quay', 'private_beta');
    await page.visit(application);
    await page.prove(waitlist.newAddress());
    await page.untilVisible('#interest');
    await page.view.click('#interest');
    await page.untilHeading(/^Your request is recorded$/);
    await waitlist.decide(application, 'soft_decline');
    await page.untilHeading(/^There is no place for you yet$/);
    expect(await page.isVisible('#interest')).toBe(false);
    await page.visitAgain(application);
    await page.untilHeading(/^There is no place for you yet$/);
    await waitlist.setGate(application, 'public');
    await page.untilHeading(/^Quay is open now$/);
  });
});
