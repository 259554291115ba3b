/** What the WebAuthn library's certificates need before they load: loaded late, a bundle would put it behind them. */
import 'reflect-metadata';
