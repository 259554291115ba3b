/** News as the text of notifications: `[instance, [[topic, messages], …]]` in JSON. */

/** Messages of a topic; null for more than are sent. */
export type NewsItem = readonly [topicName: string, messages: readonly unknown[] | null];

/** PostgreSQL takes notifications of up to 7,999 bytes. */
const MAX_BYTES = 7900;

/** Notifications for what is collected at a time; topics that need more are sent as null. */
const MAX_PAYLOADS = 32;

/** Returns the notifications that carry the items, each small enough to be sent. */
export function payloadsOf(instanceId: string, items: readonly NewsItem[]): string[] {
  const parts = items.flatMap((item) => partsOf(item, MAX_BYTES - bytesOf(packed(instanceId, []))));
  const payloads = filled(instanceId, parts);
  if (payloads.length <= MAX_PAYLOADS) return payloads;
  const names = [...new Set(items.map(([name]) => name))];
  return filled(
    instanceId,
    names.map((name) => JSON.stringify([name, null])),
  );
}

/** Returns what a notification says; null for one that is not of this format. */
export function readPayload(
  payload: string,
): { readonly instanceId: string; readonly items: readonly NewsItem[] } | null {
  let read: unknown;
  try {
    read = JSON.parse(payload);
  } catch {
    return null;
  }
  if (!Array.isArray(read) || typeof read[0] !== 'string' || !Array.isArray(read[1])) return null;
  return { instanceId: read[0], items: read[1].filter(isItem) };
}

function isItem(value: unknown): value is NewsItem {
  return Array.isArray(value) && typeof value[0] === 'string' && (value[1] === null || Array.isArray(value[1]));
}

const bytesOf = (text: string) => Buffer.byteLength(text);
const packed = (instanceId: string, parts: readonly string[]) => `[${JSON.stringify(instanceId)},[${parts.join(',')}]]`;

/** Cuts the messages of a topic into parts that fit into a notification; null if one message alone does not. */
function partsOf([name, messages]: NewsItem, room: number): string[] {
  const nothing = JSON.stringify([name, null]);
  if (messages === null) return [nothing];
  const head = `[${JSON.stringify(name)},[`;
  const texts = messages.map((message) => JSON.stringify(message));
  const inner = room - bytesOf(head) - 2;
  if (texts.some((text) => bytesOf(text) > inner)) return [nothing];
  return grouped(texts, inner).map((group) => `${head}${group.join(',')}]]`);
}

function filled(instanceId: string, parts: readonly string[]): string[] {
  return grouped(parts, MAX_BYTES - bytesOf(packed(instanceId, []))).map((group) => packed(instanceId, group));
}

/** Groups texts so that each group, with commas between, takes up to `room` bytes. */
function grouped(texts: readonly string[], room: number): string[][] {
  const groups: string[][] = [];
  let left = 0;
  for (const text of texts) {
    const bytes = bytesOf(text) + 1;
    if (bytes > left || groups.length === 0) {
      groups.push([]);
      left = room + 1;
    }
    groups.at(-1)?.push(text);
    left -= bytes;
  }
  return groups;
}
