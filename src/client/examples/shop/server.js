/** A shop: its page, a backend that knows who is calling, and a receiver of webhooks. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createVerifier, NotAdmitted, verifyWebhook, WebhookRefused } from 'gatehouse';

const { GATEHOUSE, CLIENT_ID, API_KEY, SIGNING_SECRET, PORT = '3000' } = process.env;

const gatehouse = createVerifier({ url: GATEHOUSE, apiKey: API_KEY });

const files = {
  '/': ['page.html', 'text/html'],
  '/page.js': ['page.js', 'text/javascript'],
  // The browser loads the very module that the backend uses.
  '/gatehouse.js': [fileURLToPath(import.meta.resolve('gatehouse')), 'text/javascript'],
};

const seen = new Set(); // where it lasts, in your database

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/me') {
    const { email, roles } = await gatehouse.requireSession(request);
    return response.end(`${email}: ${roles.join(', ')}`);
  }
  if (pathname === '/hook') {
    const event = await verifyWebhook(await bytesOf(request), request.headers, SIGNING_SECRET);
    if (!seen.has(event.id)) console.log(event.type, event.data);
    seen.add(event.id);
    return response.end('taken');
  }
  if (pathname === '/settings.js') {
    response.setHeader('Content-Type', 'text/javascript');
    return response.end(`export const url = ${JSON.stringify(GATEHOUSE)}, clientId = ${JSON.stringify(CLIENT_ID)};`);
  }
  const [file, type] = files[pathname] ?? [];
  if (!file) return response.writeHead(404).end('nothing here');
  response.setHeader('Content-Type', `${type}; charset=utf-8`);
  return response.end(await readFile(new URL(file, import.meta.url)));
}

async function bytesOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    // Answers 401, 403, 429 or 503 to whoever is not admitted.
    if (error instanceof NotAdmitted) return error.sendTo(response);
    if (error instanceof WebhookRefused) return response.writeHead(401).end(error.message);
    console.error(error);
    return response.writeHead(500).end('something went wrong');
  });
}).listen(Number(PORT), '127.0.0.1', () => console.log(`The shop is open at http://localhost:${PORT}`));
