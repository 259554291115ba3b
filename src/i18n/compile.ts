/** Build time only: parses the ICU messages of all catalogues, so that nothing is parsed at run time. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { CATALOGUES } from './catalogues.ts';
import type { Message } from './texts.ts';

const GENERATED_FILE = join(import.meta.dir, 'generated', 'messages.ts');

const HEADER = '/** Written by src/i18n/compile.ts from the catalogues; do not edit. */\n\n';

/** Writes `generated/messages.ts` unless unchanged. @throws when a message is malformed. */
export async function compileCatalogues(): Promise<void> {
  // Stored as JSON text and parsed on first use: unused objects would slow down every garbage collection.
  const compiled: Record<string, string> = {};
  for (const [locale, services] of Object.entries(CATALOGUES)) {
    const messages: Record<string, Message> = {};
    for (const [service, texts] of Object.entries(services))
      for (const [key, text] of Object.entries(texts)) {
        messages[`${service}.${key}`] = compileMessage(text, `${locale}: ${service}.${key}`);
      }
    compiled[locale] = JSON.stringify(messages);
  }
  const type = 'Record<string, string>';
  const module = `${HEADER}export const compiledMessages: ${type} = ${JSON.stringify(compiled)};\n`;
  const file = Bun.file(GENERATED_FILE);
  if ((await file.exists()) && (await file.text()) === module) return;
  await mkdir(join(GENERATED_FILE, '..'), { recursive: true });
  await Bun.write(file, module);
}

function compileMessage(text: string, name: string): Message {
  let parts: MessageFormatElement[];
  try {
    parts = parse(text, { ignoreTag: true, captureLocation: false });
  } catch (cause) {
    throw new Error(`${name} is no ICU message: ${text}`, { cause });
  }
  if (parts.length === 0) return '';
  const [only] = parts;
  return parts.length === 1 && only?.type === TYPE.literal ? only.value : parts;
}
