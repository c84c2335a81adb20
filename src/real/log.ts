import { type DestinationStream, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { type Fields, type Log, redact, redactText } from '../world/log.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** JSON lines on stdout (or `to`). Everything passes redact(): a secret that reaches a log is a leak for good. */
export function createLog(level: Level = 'info', to?: DestinationStream): Log {
  const options: LoggerOptions = {
    level,
    base: null,
    messageKey: 'msg',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
  };
  return wrap(to ? pino(options, to) : pino(options));
}

function wrap(logger: Logger): Log {
  const write =
    (level: Level) =>
    (text: string, fields: Fields = {}): void => {
      // Masking costs microseconds per field; a line that is not written must not.
      if (logger.isLevelEnabled(level)) logger[level](redact(fields), redactText(text));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: fields => wrap(logger.child(redact(fields) as Record<string, unknown>)),
  };
}
