/** Pictures in a real browser: uploaded by a page, and shown at their sizes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { BLUE, GREEN, isNear, jpeg, stripedPng, withExif } from '../modules/images/pictures.ts';
import { type EphemeralServer, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let token: string;
let page: Page;

beforeAll(async () => {
  server = await startEphemeral();
  ({ token } = await signIn(server, 'ada@example.com', server.clientId));
  page = await openBrowserPage();
  await page.open(`${server.url}/sign-in?client_id=${server.clientId}`);
});
afterAll(async () => {
  page.close();
  closeBrowser();
  await server.stop();
});

/** Uploads from within the page, as a form with a file does. */
async function upload(kind: 'avatar' | 'banner', file: Buffer): Promise<{ variants: { size: number; url: string }[] }> {
  const { data } = await page.evaluate<{ data: { variants: { size: number; url: string }[] } }>(`(async () => {
    const bytes = Uint8Array.fromBase64(${JSON.stringify(file.toString('base64'))});
    const form = new FormData();
    form.append('file', new File([bytes], 'me.jpg', { type: 'image/jpeg' }));
    const response = await fetch('/api/account/self/images/${kind}', {
      method: 'PUT',
      headers: { authorization: ${JSON.stringify(`Bearer ${token}`)} },
      body: form,
    });
    return response.json();
  })()`);
  return data;
}

/** Returns the natural size that the browser sees, and the colour of a pixel at fractions of it. */
const shown = (url: string, x: number, y: number) =>
  page.evaluate<{ width: number; height: number; pixel: number[] }>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(url)};
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const [x, y] = [${x} * image.naturalWidth, ${y} * image.naturalHeight].map(Math.floor);
    const pixel = [...context.getImageData(x, y, 1, 1).data];
    return { width: image.naturalWidth, height: image.naturalHeight, pixel };
  })()`);

test('the variants of a photo with EXIF rotation are upright and have their sizes', async () => {
  // Stored 4032 wide; turned by 90°, the top of the stored picture becomes the right side.
  const lying = stripedPng(4032, 3024, (y) => (y < 1512 ? BLUE : GREEN));
  const photo = withExif(await jpeg(lying, { quality: 80 }), 6);
  for (const [kind, ratio] of [
    ['avatar', 1],
    ['banner', 3],
  ] as const) {
    const { variants } = await upload(kind, photo);
    expect(variants).toHaveLength(3);
    for (const { size, url } of variants) {
      const [left, right] = [await shown(url, 0.1, 0.5), await shown(url, 0.9, 0.5)];
      expect([left.width, left.height]).toEqual([size, size / ratio]);
      expect([isNear(left.pixel, GREEN), isNear(right.pixel, BLUE)]).toEqual([true, true]);
    }
  }
  expect(page.problems).toEqual([]);
});

test('an image URL opened directly shows the image and runs nothing', async () => {
  const { variants } = await upload('avatar', await jpeg(stripedPng(400, 400, () => GREEN)));
  await page.open(variants[1]!.url);
  expect(await page.evaluate<string>('document.contentType')).toBe('image/webp');
  expect(await page.evaluate<number>('document.images[0].naturalWidth')).toBe(256);
});
