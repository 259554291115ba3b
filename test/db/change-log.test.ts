import { expect, test } from 'bun:test';
import { changeLog, changeLogMemory, changeLogReader } from '@/db/sqlite/change-log.ts';

const changes = (tables: string[], ids: string[] = []) => ({ tables: new Set(tables), ids: new Set(ids) });

test('a reader gets each change once, in order', () => {
  const memory = changeLogMemory();
  const log = changeLog(memory);
  const reader = changeLogReader(memory);
  expect(reader.hasNews()).toBe(false);
  log.committed(changes(['users'], ['usr_1']));
  log.committed(changes(['+sessions', 'api_keys']));
  expect(reader.hasNews()).toBe(true);
  expect(reader.take()).toEqual([changes(['users'], ['usr_1']), changes(['+sessions', 'api_keys'])]);
  expect(reader.hasNews()).toBe(false);
  expect(reader.take()).toEqual([]);
});

test('a commit that changed nothing cached is no news, but its begin and its end are counted', () => {
  const memory = changeLogMemory();
  const log = changeLog(memory);
  const reader = changeLogReader(memory);
  log.committing();
  expect([reader.hasNews(), reader.commits()]).toEqual([false, 1n]);
  log.committed(changes([]));
  expect([reader.hasNews(), reader.commits()]).toEqual([false, 2n]);
  log.committing();
  log.failed();
  expect([reader.hasNews(), reader.commits()]).toEqual([false, 4n]);
});

test('a reader that fell behind by more than the ring learns that anything may have changed, then goes on', () => {
  const memory = changeLogMemory();
  const log = changeLog(memory);
  const reader = changeLogReader(memory);
  for (let time = 0; time < 40_000; time += 1) log.committed(changes(['users'], [`usr_${time}`]));
  expect(reader.take()).toBeNull();
  log.committed(changes(['sessions']));
  expect(reader.take()).toEqual([changes(['sessions'])]);
});

test('changes wrap around the end of the ring unharmed', () => {
  const memory = changeLogMemory();
  const log = changeLog(memory);
  const reader = changeLogReader(memory);
  for (let time = 0; time < 5000; time += 1) {
    const made = changes([`table_${time % 7}`], [`usr_${time}`, 'ä'.repeat(time % 40)]);
    log.committed(made);
    expect(reader.take()).toEqual([made]);
  }
});

test('a change too large for the log, and one by another process, are changes of everything', () => {
  const memory = changeLogMemory();
  const log = changeLog(memory);
  const reader = changeLogReader(memory);
  log.committed(
    changes(
      ['users'],
      Array.from({ length: 40_000 }, (_, row) => `usr_${row}`),
    ),
  );
  expect(reader.take()).toBeNull();
  log.everythingChanged();
  expect(reader.take()).toBeNull();
});

test('readers on other threads never miss or tear a change while the log is written', async () => {
  const memory = changeLogMemory();
  const code = `
    import { changeLogReader } from ${JSON.stringify(new URL('../../src/db/sqlite/change-log.ts', import.meta.url).pathname)};
    self.onmessage = ({ data }) => {
      const reader = changeLogReader(data);
      postMessage('ready');
      let expected = 0, overruns = 0, error = null;
      while (expected < 20000 && error === null) {
        if (!reader.hasNews()) continue;
        const news = reader.take();
        if (news === null) { overruns += 1; expected = -1; continue; }
        for (const { ids } of news) {
          const [id] = ids;
          const found = Number(id.slice(4));
          if (expected >= 0 && found !== expected) error = id + ' came in place of ' + expected;
          expected = found + 1;
        }
      }
      postMessage({ error, overruns });
    };`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'application/typescript' })));
  const ready = Promise.withResolvers<void>();
  const done = Promise.withResolvers<{ error: string | null }>();
  worker.onmessage = ({ data }) => (data === 'ready' ? ready.resolve() : done.resolve(data));
  worker.postMessage(memory);
  await ready.promise;
  const log = changeLog(memory);
  for (let time = 0; time < 20_000; time += 1) {
    log.committed(changes(['users'], [`usr_${time}`]));
    if (time % 100 === 99) await Bun.sleep(0);
  }
  // The last one again, in case the reader was overrun at the end.
  const repeat = setInterval(() => log.committed(changes(['users'], ['usr_19999'])), 10);
  expect((await done.promise).error).toBeNull();
  clearInterval(repeat);
  worker.terminate();
});
