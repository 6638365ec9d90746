module onedoor/tools/judges

go 1.26.6
