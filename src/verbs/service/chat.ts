import { type AddVerbs, brief, single, textArgument, textOption } from '../verb.js';

const room = textOption('Name of the room (default: the one that the key belongs to)');

/** `volley chat read|post` */
export const addChatVerbs: AddVerbs = (cli, { terminal, finish }) =>
  cli.command('chat', 'Read a room of the workplace chat, or post to it', (chat) =>
    brief(chat, 'chat <read|post>', terminal)
      .command(
        'read',
        'Show the latest messages, oldest first',
        (command) =>
          brief(command, 'chat read --job <file>', terminal)
            .options({
              room,
              'page-size': textOption('How many messages (default: as many as the service gives)'),
              ...single,
            })
            .example('$0 chat read --room ops --page-size 10 --job jobs/campaign-window.yaml', ''),
        ({ room, pageSize, job, json }) =>
          finish(
            import('../../commands/chat.js').then(({ readChat }) => readChat({ room, pageSize, job, json }, terminal)),
          ),
      )
      .command(
        'post <text>',
        'Post a message to a room, once',
        (command) =>
          brief(command, 'chat post <text> --job <file>', terminal)
            .positional('text', textArgument('Text of the message'))
            .options({ room, ...single })
            .example('$0 chat post "The dialer is paused" --room ops --job jobs/campaign-window.yaml', ''),
        ({ text, room, job, json }) =>
          finish(
            import('../../commands/chat.js').then(({ postChat }) => postChat({ text, room, job, json }, terminal)),
          ),
      )
      .example('$0 chat post "The dialer is paused" --job jobs/campaign-window.yaml', '')
      .demandCommand(1, 'Name what to do: read or post.'),
  );
