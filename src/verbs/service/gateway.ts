import type { Argv } from 'yargs';
import { type AddVerbs, brief, single, textArgument, textOption, type VerbContext } from '../verb.js';

/** `volley gateway webhook|channel|update|send` */
export const addGatewayVerbs: AddVerbs = (cli, context) =>
  cli.command('gateway', 'Set up the chat gateway, or act in one of its conversations', (gateway) =>
    addConversationVerbs(
      addSettingVerbs(brief(gateway, 'gateway <webhook|channel|update|send>', context.terminal), context),
      context,
    )
      .example('$0 gateway send CONVERSATION "Are you there?" --job jobs/handoff.yaml', '')
      .demandCommand(1, 'Name what to do: webhook, channel, update or send.'),
  );

function addSettingVerbs(gateway: Argv, { terminal, finish }: VerbContext): Argv {
  return gateway
    .command(
      'webhook <name> <url>',
      'Create a webhook: the address that events of conversations are posted to',
      (command) =>
        brief(command, 'gateway webhook <name> <url> --job <file>', terminal)
          .positional('name', textArgument('Name of the webhook; each call creates one more, also under the same name'))
          .positional('url', textArgument('Where a listener can be reached from the service'))
          .options({
            'api-version': textOption('Chat API Version (default: the one that the service asks for)'),
            ...single,
          })
          .example('$0 gateway webhook desk https://hooks.example.com/hook/… --job jobs/handoff.yaml', ''),
      ({ name, url, apiVersion: version, job, json }) =>
        finish(
          import('../../commands/gateway.js').then(({ makeWebhook }) =>
            makeWebhook({ name, url, version, job, json }, terminal),
          ),
        ),
    )
    .command(
      'channel <name>',
      'Create a channel, through which conversations are created',
      (command) =>
        brief(command, 'gateway channel <name> --webhook <id> --queue <id> --job <file>', terminal)
          .positional('name', textArgument('Name of the channel; each call creates one more, also under the same name'))
          .options({
            webhook: { ...textOption('Id of the webhook that gets its events'), demandOption: true },
            queue: { ...textOption('Id of the queue for conversations that name none'), demandOption: true },
            description: textOption('What the channel is for'),
            ...single,
          })
          .example('$0 gateway channel desk --webhook 7 --queue 100 --job jobs/handoff.yaml', ''),
      ({ name, webhook, queue, description, job, json }) =>
        finish(
          import('../../commands/gateway.js').then(({ makeChannel }) =>
            makeChannel({ name, webhook, queue, description, job, json }, terminal),
          ),
        ),
    );
}

function addConversationVerbs(gateway: Argv, { terminal, finish }: VerbContext): Argv {
  return gateway
    .command(
      'update <conversation>',
      'Change the queue or the customer of a conversation that is queued',
      (command) =>
        brief(command, 'gateway update <conversation> --job <file>', terminal)
          .positional('conversation', textArgument('Id of the conversation'))
          .options({
            queue: textOption('Id of the queue'),
            name: textOption("The customer's name"),
            email: textOption("The customer's e-mail address"),
            phone: textOption("The customer's number"),
            language: textOption("The customer's language, such as en or zh-CN"),
            ...single,
          })
          .example('$0 gateway update CONVERSATION --queue 101 --job jobs/handoff.yaml', ''),
      ({ conversation, queue, name, email, phone, language, job, json }) =>
        finish(
          import('../../commands/gateway.js').then(({ changeConversation }) =>
            changeConversation({ conversation, queue, name, email, phone, language, job, json }, terminal),
          ),
        ),
    )
    .command(
      'send <conversation> <text>',
      'Send a message into a conversation, as its customer',
      (command) =>
        brief(command, 'gateway send <conversation> <text> --job <file>', terminal)
          .positional('conversation', textArgument('Id of the conversation'))
          .positional('text', textArgument('Text of the message'))
          .options(single)
          .example('$0 gateway send CONVERSATION "Are you there?" --job jobs/handoff.yaml', ''),
      ({ conversation, text, job, json }) =>
        finish(
          import('../../commands/gateway.js').then(({ sendToConversation }) =>
            sendToConversation({ conversation, text, job, json }, terminal),
          ),
        ),
    );
}
