# Completion for fish: the program itself knows its verbs and options.
complete -c tidemill -a '(tidemill --complete (commandline -opc)[2..] (commandline -ct))'
