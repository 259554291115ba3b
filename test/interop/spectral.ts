/** The description in the eyes of Spectral, whose rules take longer than a suite should: `bun run interop`. */
import spectralCore from '@stoplight/spectral-core';
import * as parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';
import { createInstance } from '../support/instance.ts';

const { Document, Spectral } = spectralCore;
const instance = await createInstance();
const { text } = await instance.call('GET', '/openapi.yaml?part=all');
const spectral = new Spectral();
spectral.setRuleset({ extends: [rulesets.oas] } as never);
const problems = await spectral.run(new Document(text, parsers.Yaml as never, 'openapi.yaml'));
for (const { code, message, path } of problems) console.error(`${code}: ${message} (${path.join('.')})`);
console.log(`spectral:oas has ${problems.length} findings in ${text.length} bytes`);
process.exit(problems.length === 0 ? 0 : 1);
