/** An API: who is calling, what only editors may do, and a webhook. */
import express from 'express';
import { gatehouse, webhook } from 'gatehouse/express';

const { GATEHOUSE, API_KEY, SIGNING_SECRET, PORT = '3000' } = process.env;
const { requireSession, requireRole } = gatehouse({ url: GATEHOUSE, apiKey: API_KEY });

const app = express();

// Before express.json(): the signature covers the raw body.
app.post(
  '/hook',
  webhook(SIGNING_SECRET, (event) => console.log(event.type, event.data)),
);
app.use(express.json());

app.get('/me', requireSession(), (request, response) => {
  response.json({ email: request.identity.email, roles: request.identity.roles });
});

app.post('/articles', requireRole('editor'), (request, response) => {
  response.status(201).json({ title: request.body.title, author: request.identity.userId });
});

app.listen(Number(PORT), '127.0.0.1', () => console.log(`Listening at http://localhost:${PORT}`));
