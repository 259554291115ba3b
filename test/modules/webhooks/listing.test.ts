import { describe, expect, test } from 'bun:test';
import { apiOf, emit, newestDelivery, setUp, subscribe } from './scene.ts';

interface Row {
  readonly id: string;
  readonly eventType: string;
  readonly status: string;
}

async function mixed() {
  const scene = await setUp();
  const { instance, api } = scene;
  const { id, receiver } = await subscribe(scene);
  for (let round = 0; round < 4; round += 1) {
    await emit(scene, `usr_${round}`);
    await api.test(id);
  }
  await instance.services.deliveries.runOnce();
  receiver.answerWith(() => ({ status: 500 }));
  await emit(scene, 'usr_late');
  await instance.services.deliveries.runOnce();
  const found = async (query: string): Promise<Row[]> => {
    const rows: Row[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, json } = await api.deliveries(id, `?limit=2${query}${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      expect(json.data.items.length).toBeLessThanOrEqual(2);
      rows.push(...json.data.items);
      cursor = json.data.nextCursor;
    }
    return rows;
  };
  return { scene, id, found };
}

describe('the deliveries of one type', () => {
  test('can be filtered by their status, newest first, on every page', async () => {
    const { found } = await mixed();
    const all = await found('');
    expect(all).toHaveLength(9);
    for (const type of ['user.banned', 'webhook.test', 'user.left'])
      for (const status of ['', 'pending', 'delivered', 'failed', 'held']) {
        const rows = await found(`&type=${type}${status && `&status=${status}`}`);
        const expected = all.filter((row) => row.eventType === type && (status === '' || row.status === status));
        expect([type, status, rows]).toEqual([type, status, expected]);
      }
    expect(all.filter(({ status }) => status === 'pending')).toHaveLength(1);
  });

  test('are searched in bounded steps, so that a page may be empty and have a successor', async () => {
    const { scene, id, found } = await mixed();
    const { sqlite } = scene.instance;
    await scene.instance.services.deliveries.stop();
    const { event_id: eventId } = sqlite.query('SELECT event_id FROM deliveries LIMIT 1').get() as { event_id: string };
    // By SQL for speed.
    sqlite
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100999)
         INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at, finished_at)
         SELECT 'dlv_z' || '0000000000000000000' || (100000 + i), ?, ?, 'user.signed_in', 'delivered', 1, 0, 0, 0 FROM n`,
      )
      .run(id, eventId);
    const first = await scene.api.deliveries(id, '?type=webhook.test');
    expect(first.json.data).toEqual({ items: [], nextCursor: expect.any(String) } as never);
    expect(await found('&type=webhook.test')).toHaveLength(4);
  });

  test('cannot be filtered by an empty type', async () => {
    const { scene, id } = await mixed();
    const { status, json } = await scene.api.deliveries(id, '?type=');
    expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', 'type']);
  });
});

test('a delivery shows each attempt with its request and answer', async () => {
  const { scene, id } = await mixed();
  const delivery = await newestDelivery(scene, id);
  expect(JSON.parse(delivery.requestBody)).toMatchObject({ type: 'user.banned', data: { userId: 'usr_late' } });
  expect(delivery.attemptLog).toEqual([
    {
      number: 1,
      startedAt: expect.any(String),
      durationMs: expect.any(Number),
      statusCode: 500,
      errorClass: 'status',
      requestHeaders: {
        'Content-Type': 'application/json',
        'User-Agent': 'Gatehouse',
        'Svc-Event-Id': delivery.eventId,
        'Svc-Signature': expect.stringMatching(/^t=\d+,v1=withheld$/),
      },
      responseExcerpt: expect.any(String),
    },
  ]);
});

describe('a delivery', () => {
  /** A delivery whose receiver has echoed it. */
  async function echoed() {
    const scene = await setUp();
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(({ body, signature }) => ({ status: 500, body: `${signature} ${body}` }));
    await emit(scene, 'usr_echoed');
    await scene.instance.services.deliveries.runOnce();
    return { scene, id, signature: /v1=(\w+)/.exec(receiver.received[0]!.signature)?.[1] ?? '' };
  }

  test('shows its signature to nobody, even if the receiver has echoed it', async () => {
    const { scene, id, signature } = await echoed();
    const delivery = await newestDelivery(scene, id);
    expect(signature).toHaveLength(64);
    expect(JSON.stringify(delivery)).not.toContain(signature);
    expect(delivery.attemptLog[0].responseExcerpt).toMatch(/^t=\d+,v1=withheld \{/);
  });

  test('hides body and answer from a read key, since they can contain names', async () => {
    const { scene, id } = await echoed();
    const { instance, application } = scene;
    const key = await instance.createKey(application.id, { access: 'read' });
    const read = await newestDelivery({ ...scene, api: apiOf(instance, application.id, key.token) }, id);
    const full = await newestDelivery(scene, id);
    expect(full.requestBody).toContain('usr_echoed');
    expect(read).toEqual({
      ...full,
      requestBody: null,
      attemptLog: full.attemptLog.map((attempt: object) => ({ ...attempt, responseExcerpt: null })),
    });
  });
});
