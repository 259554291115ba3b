/** Helpers for tests of the account page: read the API, choose from lists, fake failing answers. */
import { type EphemeralServer, request, signIn } from '../support/binary.ts';
import type { Page } from '../support/browser.ts';

/** Chooses an entry of a list. */
export const choose = async (page: Page, selector: string, value: string): Promise<void> => {
  await page.untilVisible(selector);
  await page.evaluate(`(() => {
    const list = document.querySelector(${JSON.stringify(selector)});
    list.value = ${JSON.stringify(value)};
    list.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
};

/** Reads the person's own API with a session of their own. */
export async function asked(server: EphemeralServer, email: string, path: string, clientId = server.clientId) {
  const { token } = await signIn(server, email, clientId);
  return (await request(server, 'GET', path, { token })).json.data;
}

/** Answers every request to a path as a failing server would. */
export const answering = (page: Page, path: string, status: number, answer: object) =>
  page.evaluate(`(() => {
    const real = globalThis.fetch;
    globalThis.fetch = (input, init) =>
      String(input).startsWith(${JSON.stringify(path)}) && init?.method !== 'GET'
        ? Promise.resolve(Response.json(${JSON.stringify(answer)}, { status: ${status} }))
        : real(input, init);
  })()`);

/** Creates an application that is open to everyone. */
export async function createApplication(
  server: EphemeralServer,
  name: string,
): Promise<{ id: string; clientId: string }> {
  const token = server.workspaceKey;
  const { json } = await request(server, 'POST', '/api/applications', { token, body: { name } });
  for (const step of ['publish', 'go-live'])
    await request(server, 'POST', `/api/applications/${json.data.id}/${step}`, { token });
  return json.data;
}

/** Returns the colour of a picture at fractions of its width and height. */
export const pixelOf = (page: Page, url: string, x: number, y: number) =>
  page.evaluate<number[]>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(url)};
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return [...context.getImageData(${x} * image.naturalWidth, ${y} * image.naturalHeight, 1, 1).data];
  })()`);
