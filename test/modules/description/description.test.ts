import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';

const PATH = '/openapi.yaml';

describe('the description of the API', () => {
  test('is for everybody, and names the operations that are served', async () => {
    const { status, headers, text } = await (await createInstance()).call('GET', PATH);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8']);
    expect(text).toStartWith('openapi: ');
    for (const path of [PATH, '/api/v1/session', '/healthz']) expect(text).toContain(path);
  });

  test('is told apart by its content: whoever has it is not sent it again', async () => {
    const instance = await createInstance();
    const { headers, text } = await instance.call('GET', PATH);
    const etag = headers.get('etag')!;
    expect(etag).toMatch(/^"\w+"$/);
    for (const known of [etag, `W/${etag}`]) {
      const again = await instance.call('GET', PATH, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    const other = await instance.call('GET', PATH, { headers: { 'if-none-match': '"another"' } });
    expect([other.status, other.text]).toEqual([200, text]);
  });

  test('names another address at another server, and has another tag', async () => {
    const environment = { GATEHOUSE_BASE_URL: 'https://id.example.com' };
    const [here, there] = [await createInstance(), await createInstance({ environment })];
    const answers = [await here.call('GET', PATH), await there.call('GET', PATH)];
    expect(answers[1]!.text).toContain('https://id.example.com');
    expect(answers[0]!.headers.get('etag')).not.toBe(answers[1]!.headers.get('etag'));
  });
});
